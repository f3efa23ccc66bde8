/* SPDX-License-Identifier: MIT */
/*
 * gpu_error.c - names of CUDA's errors, since its own functions that say them
 * may not be there, or not in the process that writes.
 *
 * Runtime and driver share their numbers, and nearly always their words:
 * cudaErrorInvalidValue is CUDA_ERROR_INVALID_VALUE.
 */
#include "writer/gpu/gpu_error.h"

#include "collector/system/log.h"

struct error {
	uint16_t number;
	char word[40];
};

/* clang-format off */
static const struct error errors[] = {
	{1, "InvalidValue"}, {2, "MemoryAllocation"},
	{3, "InitializationError"}, {4, "CudartUnloading"},
	{5, "ProfilerDisabled"}, {6, "ProfilerNotInitialized"},
	{7, "ProfilerAlreadyStarted"}, {8, "ProfilerAlreadyStopped"},
	{9, "InvalidConfiguration"}, {12, "InvalidPitchValue"},
	{13, "InvalidSymbol"}, {16, "InvalidHostPointer"},
	{17, "InvalidDevicePointer"}, {18, "InvalidTexture"},
	{19, "InvalidTextureBinding"}, {20, "InvalidChannelDescriptor"},
	{21, "InvalidMemcpyDirection"}, {22, "AddressOfConstant"},
	{23, "TextureFetchFailed"}, {24, "TextureNotBound"},
	{25, "SynchronizationError"}, {26, "InvalidFilterSetting"},
	{27, "InvalidNormSetting"}, {28, "MixedDeviceExecution"},
	{31, "NotYetImplemented"}, {32, "MemoryValueTooLarge"},
	{34, "StubLibrary"}, {35, "InsufficientDriver"},
	{36, "CallRequiresNewerDriver"}, {37, "InvalidSurface"},
	{43, "DuplicateVariableName"}, {44, "DuplicateTextureName"},
	{45, "DuplicateSurfaceName"}, {46, "DevicesUnavailable"},
	{49, "IncompatibleDriverContext"}, {52, "MissingConfiguration"},
	{53, "PriorLaunchFailure"}, {65, "LaunchMaxDepthExceeded"},
	{66, "LaunchFileScopedTex"}, {67, "LaunchFileScopedSurf"},
	{68, "SyncDepthExceeded"}, {69, "LaunchPendingCountExceeded"},
	{98, "InvalidDeviceFunction"}, {100, "NoDevice"},
	{101, "InvalidDevice"}, {102, "DeviceNotLicensed"},
	{103, "SoftwareValidityNotEstablished"}, {127, "StartupFailure"},
	{200, "InvalidKernelImage"}, {201, "DeviceUninitialized"},
	{205, "MapBufferObjectFailed"}, {206, "UnmapBufferObjectFailed"},
	{207, "ArrayIsMapped"}, {208, "AlreadyMapped"},
	{209, "NoKernelImageForDevice"}, {210, "AlreadyAcquired"},
	{211, "NotMapped"}, {212, "NotMappedAsArray"},
	{213, "NotMappedAsPointer"}, {214, "ECCUncorrectable"},
	{215, "UnsupportedLimit"}, {216, "DeviceAlreadyInUse"},
	{217, "PeerAccessUnsupported"}, {218, "InvalidPtx"},
	{219, "InvalidGraphicsContext"}, {220, "NvlinkUncorrectable"},
	{221, "JitCompilerNotFound"}, {222, "UnsupportedPtxVersion"},
	{223, "JitCompilationDisabled"}, {224, "UnsupportedExecAffinity"},
	{225, "UnsupportedDevSideSync"}, {226, "Contained"},
	{300, "InvalidSource"}, {301, "FileNotFound"},
	{302, "SharedObjectSymbolNotFound"}, {303, "SharedObjectInitFailed"},
	{304, "OperatingSystem"}, {400, "InvalidResourceHandle"},
	{401, "IllegalState"}, {402, "LossyQuery"}, {500, "SymbolNotFound"},
	{600, "NotReady"}, {700, "IllegalAddress"},
	{701, "LaunchOutOfResources"}, {702, "LaunchTimeout"},
	{703, "LaunchIncompatibleTexturing"},
	{704, "PeerAccessAlreadyEnabled"}, {705, "PeerAccessNotEnabled"},
	{708, "SetOnActiveProcess"}, {709, "ContextIsDestroyed"},
	{710, "Assert"}, {711, "TooManyPeers"},
	{712, "HostMemoryAlreadyRegistered"},
	{713, "HostMemoryNotRegistered"}, {714, "HardwareStackError"},
	{715, "IllegalInstruction"}, {716, "MisalignedAddress"},
	{717, "InvalidAddressSpace"}, {718, "InvalidPc"},
	{719, "LaunchFailure"}, {720, "CooperativeLaunchTooLarge"},
	{721, "TensorMemoryLeak"}, {800, "NotPermitted"},
	{801, "NotSupported"}, {802, "SystemNotReady"},
	{803, "SystemDriverMismatch"}, {804, "CompatNotSupportedOnDevice"},
	{805, "MpsConnectionFailed"}, {806, "MpsRpcFailure"},
	{807, "MpsServerNotReady"}, {808, "MpsMaxClientsReached"},
	{809, "MpsMaxConnectionsReached"}, {810, "MpsClientTerminated"},
	{811, "CdpNotSupported"}, {812, "CdpVersionMismatch"},
	{900, "StreamCaptureUnsupported"}, {901, "StreamCaptureInvalidated"},
	{902, "StreamCaptureMerge"}, {903, "StreamCaptureUnmatched"},
	{904, "StreamCaptureUnjoined"}, {905, "StreamCaptureIsolation"},
	{906, "StreamCaptureImplicit"}, {907, "CapturedEvent"},
	{908, "StreamCaptureWrongThread"}, {909, "Timeout"},
	{910, "GraphExecUpdateFailure"}, {911, "ExternalDevice"},
	{912, "InvalidClusterSize"}, {913, "FunctionNotLoaded"},
	{914, "InvalidResourceType"}, {915, "InvalidResourceConfiguration"},
	{999, "Unknown"}, {10000, "ApiFailureBase"},
};

/* Where the driver says it otherwise. */
static const struct error of_driver[] = {
	{2, "OUT_OF_MEMORY"}, {3, "NOT_INITIALIZED"}, {4, "DEINITIALIZED"},
	{46, "DEVICE_UNAVAILABLE"}, {200, "INVALID_IMAGE"},
	{201, "INVALID_CONTEXT"}, {202, "CONTEXT_ALREADY_CURRENT"},
	{205, "MAP_FAILED"}, {206, "UNMAP_FAILED"},
	{209, "NO_BINARY_FOR_GPU"}, {216, "CONTEXT_ALREADY_IN_USE"},
	{225, "UNSUPPORTED_DEVSIDE_SYNC"}, {400, "INVALID_HANDLE"},
	{500, "NOT_FOUND"}, {708, "PRIMARY_CONTEXT_ACTIVE"},
	{719, "LAUNCH_FAILED"}, {916, "KEY_ROTATION"},
};
/* clang-format on */

static const char *find(const struct error *list, size_t count, uint32_t number)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i].number == number)
			return list[i].word;
	}
	return NULL;
}

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* InvalidPtx as INVALID_PTX, ECCUncorrectable as ECC_UNCORRECTABLE. */
static void in_capitals(const char *word, char *text, size_t bytes)
{
	size_t at = 0;

	for (size_t i = 0; word[i] && at + 3 < bytes; i++) {
		if (i && is_capital(word[i]) &&
		    (!is_capital(word[i - 1]) ||
		     (word[i + 1] >= 'a' && word[i + 1] <= 'z')))
			text[at++] = '_';
		text[at++] = word[i] >= 'a' && word[i] <= 'z'
				     ? (char)(word[i] - 'a' + 'A')
				     : word[i];
	}
	text[at] = '\0';
}

void gpu_error_name(bool is_driver, uint32_t number, char *text, size_t bytes)
{
	const char *word = NULL;
	char capitals[GPU_ERROR_BYTES];

	if (is_driver)
		word = find(of_driver, sizeof(of_driver) / sizeof(*of_driver),
			    number);
	if (is_driver && word) {
		log_format(text, bytes, "CUDA_ERROR_%s", word);
		return;
	}
	word = find(errors, sizeof(errors) / sizeof(*errors), number);
	if (!word) {
		log_format(text, bytes, "error %u", number);
	} else if (is_driver) {
		in_capitals(word, capitals, sizeof(capitals));
		log_format(text, bytes, "CUDA_ERROR_%s", capitals);
	} else {
		log_format(text, bytes, "cudaError%s", word);
	}
}
