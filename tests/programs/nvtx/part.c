/* SPDX-License-Identifier: MIT */
/*
 * part.c - a library with its own copy of NVTX, which uses a domain that the
 * program has too.
 */
#include <nvtx3/nvToolsExt.h>

void part(void)
{
	nvtxDomainHandle_t net = nvtxDomainCreateA("net");
	nvtxEventAttributes_t one = {0};

	one.version = NVTX_VERSION;
	one.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	one.messageType = NVTX_MESSAGE_TYPE_ASCII;
	one.message.ascii = "in the library";
	one.category = 3;
	nvtxDomainRangePushEx(net, &one);
	nvtxDomainRangePop(net);
}
