# SPDX-License-Identifier: MIT
"""CuPy: k-means with a kernel of its own, until the centres rest."""
import cupy as cp

STEPS = 60

nearest = cp.RawKernel(r'''
extern "C" __global__ void nearest(const float *x, const float *c, int *label, int n,
                                   int k)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float best = 1e30f;
	for (int j = 0; j < k; j++) {
		float d = 0;
		for (int m = 0; m < 4; m++)
			d += (x[i * 4 + m] - c[j * 4 + m]) * (x[i * 4 + m] - c[j * 4 + m]);
		if (d < best) {
			best = d;
			label[i] = j;
		}
	}
}''', "nearest")


def main():
    random = cp.random.RandomState(7)
    x = random.standard_normal((200000, 4), dtype=cp.float32)
    centres = x[:16].copy()
    label = cp.zeros(len(x), cp.int32)
    for _ in range(STEPS):
        nearest(((len(x) + 255) // 256,), (256,), (x, centres, label,
                                                    cp.int32(len(x)), cp.int32(16)))
        sums = cp.zeros_like(centres)
        cp.add.at(sums, label, x)
        count = cp.bincount(label, minlength=16)
        centres = sums / cp.maximum(count, 1)[:, None].astype(cp.float32)
        if int(count.max()) == len(x):
            break
    print("labels", int(label.min()), int(label.max()))
    print("steps", STEPS)


main()
