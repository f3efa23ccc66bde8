/* SPDX-License-Identifier: MIT */
/*
 * calls.c - every NVTX function that says something, once.
 *
 *	calls [PART]		PART: a library with an NVTX of its own
 *	calls steps N		a range "epoch" and three "batch" in each of N
 *
 * Prints nothing that depends on whether somebody listens.
 */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/annotate/nvtx_abi.h"

/* What we declare ourselves is what NVIDIA's headers say. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME(NVTX_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_EXPORT_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_RANGE_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_RANGE_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(NVTX_RANGE_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_NAME_THREAD_W, NVTX_CBID_CORE_NameOsThreadW);
SAME(NVTX_DOMAIN_RANGE_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(NVTX_DOMAIN_RANGE_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_DOMAIN_REGISTER_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(NVTX_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(NVTX_INITIALISE, NVTX_CBID_CORE2_Initialize);
SAME(NVTX_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_UNICODE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(NVTX_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(NVTX_ARGB, NVTX_COLOR_ARGB);
SAME(NVTX_NO_TRACKING, NVTX_NO_PUSH_POP_TRACKING);
#define SAME_PLACE(ours, theirs)                                               \
	SAME(offsetof(struct nvtx_event, ours),                                \
	     offsetof(nvtxEventAttributes_t, theirs))
SAME(sizeof(struct nvtx_event), sizeof(nvtxEventAttributes_t));
SAME_PLACE(size, size);
SAME_PLACE(category, category);
SAME_PLACE(colour_type, colorType);
SAME_PLACE(colour, color);
SAME_PLACE(payload_type, payloadType);
SAME_PLACE(payload, payload);
SAME_PLACE(message_type, messageType);
SAME_PLACE(message, message);
SAME(sizeof(struct nvtx_callbacks), sizeof(NvtxExportTableCallbacks));

static nvtxEventAttributes_t event(const char *message)
{
	nvtxEventAttributes_t attributes = {0};

	attributes.version = NVTX_VERSION;
	attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
	attributes.message.ascii = message;
	return attributes;
}

/* Levels are counted if somebody counts. */
static void expect_level(int level, int wanted)
{
	if (level != wanted && level != NVTX_NO_PUSH_POP_TRACKING) {
		fprintf(stderr, "level %d, wanted %d\n", level, wanted);
		exit(1);
	}
}

static void short_forms(void)
{
	nvtxRangeId_t range;

	expect_level(nvtxRangePushA("push a"), 0);
	expect_level(nvtxRangePushW(L"push w \u00e4\u20ac\U0001f600"), 1);
	expect_level(nvtxRangePop(), 1);
	expect_level(nvtxRangePop(), 0);
	range = nvtxRangeStartA("start a");
	nvtxRangeEnd(range);
	range = nvtxRangeStartW(L"start w");
	nvtxRangeEnd(range);
	nvtxRangeEnd(range);
	nvtxRangeEnd(12345678);
	nvtxMarkA("mark a");
	nvtxMarkW(L"mark w");
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "main by name");
}

static void attributes(void)
{
	nvtxEventAttributes_t one = event("unsigned");

	one.colorType = NVTX_COLOR_ARGB;
	one.color = 0xff336699;
	one.category = 7;
	one.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	one.payload.ullValue = UINT64_MAX;
	nvtxRangePushEx(&one);
	one.message.ascii = "signed";
	one.category = 8;
	nvtxNameCategoryA(8, "eighth");
	one.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	one.payload.llValue = -5;
	nvtxRangePushEx(&one);
	nvtxRangePop();
	nvtxRangePop();
	one = event("double");
	one.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	one.payload.dValue = 2.5;
	nvtxMarkEx(&one);
	one.message.ascii = "u32";
	one.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
	one.payload.uiValue = 4000000000u;
	nvtxMarkEx(&one);
	one.message.ascii = "i32";
	one.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	one.payload.iValue = -4;
	nvtxMarkEx(&one);
	one.message.ascii = "float";
	one.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
	one.payload.fValue = 0.25f;
	nvtxRangeEnd(nvtxRangeStartEx(&one));
}

static void domains(void)
{
	nvtxDomainHandle_t net = nvtxDomainCreateA("net");
	nvtxDomainHandle_t wide = nvtxDomainCreateW(L"wide");
	nvtxEventAttributes_t one = event("plain");

	nvtxDomainNameCategoryW(net, 3, L"third");
	one.category = 3;
	expect_level(nvtxDomainRangePushEx(net, &one), 0);
	one.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	one.message.registered = nvtxDomainRegisterStringA(net, "registered");
	expect_level(nvtxDomainRangePushEx(net, &one), 1);
	nvtxDomainRangePop(net);
	nvtxDomainRangePop(net);
	one.message.registered = nvtxDomainRegisterStringW(wide, L"in wide");
	nvtxDomainRangePushEx(wide, &one);
	/* Not this domain's, and too many. */
	nvtxDomainRangePop(net);
	nvtxDomainRangePop(wide);
	nvtxDomainRangePop(wide);
	one = event("beside");
	nvtxDomainRangeEnd(net, nvtxDomainRangeStartEx(net, &one));
	one.message.ascii = "marked";
	nvtxDomainMarkEx(net, &one);
	nvtxDomainDestroy(wide);
}

/* Two domains of one thread whose ranges cross. */
static void crossing(void)
{
	nvtxDomainHandle_t a = nvtxDomainCreateA("a");
	nvtxDomainHandle_t b = nvtxDomainCreateA("b");
	nvtxEventAttributes_t one = event("crossing");

	nvtxDomainRangePushEx(a, &one);
	usleep(1000);
	nvtxDomainRangePushEx(b, &one);
	usleep(1000);
	nvtxDomainRangePop(a);
	usleep(1000);
	nvtxDomainRangePop(b);
}

static void *end_elsewhere(void *range)
{
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "named before");
	nvtxRangeEnd(*(nvtxRangeId_t *)range);
	return NULL;
}

static void other_thread(void)
{
	nvtxRangeId_t range = nvtxRangeStartA("ended elsewhere");
	pthread_t thread;

	/* No name but the last, of a thread that is known. */
	for (int i = 0; i < 300; i++)
		nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid),
				  "main by name");
	pthread_create(&thread, NULL, end_elsewhere, &range);
	pthread_join(thread, NULL);
	/* More than are kept, of threads that never come. */
	for (uint32_t i = 0; i < 300; i++)
		nvtxNameOsThreadA(UINT32_MAX - i, "nobody");
}

static void steps(int count)
{
	for (int i = 0; i < count; i++) {
		nvtxRangePushA("epoch");
		for (int j = 0; j < 3; j++) {
			nvtxRangePushA("batch");
			nvtxRangePop();
		}
		nvtxRangePop();
	}
}

int main(int argc, char **argv)
{
	void (*part)(void);
	void *library;

	if (argc > 2) {
		steps(atoi(argv[2]));
		return 0;
	}
	short_forms();
	attributes();
	domains();
	crossing();
	other_thread();
	if (argc > 1) {
		library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return 2;
		part = (void (*)(void))dlsym(library, "part");
		part();
	}
	nvtxRangeStartA("never ended");
	nvtxRangePushA("never popped");
	puts("done");
	return 0;
}
