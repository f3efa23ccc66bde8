/* SPDX-License-Identifier: MIT */
/*
 * other_omp.c - an OpenMP runtime that has locks and nothing of libgomp's; with
 * CALLER what a file that uses them does: takes one, and says whether it is
 * held.
 */
#ifdef CALLER
void omp_init_lock(int *lock);
void omp_set_lock(int *lock);
void omp_unset_lock(int *lock);
int takes_lock(void);

int takes_lock(void)
{
	int lock, is_held;

	omp_init_lock(&lock);
	omp_set_lock(&lock);
	is_held = lock;
	omp_unset_lock(&lock);
	return is_held;
}
#else
void omp_init_lock(int *lock);
void omp_set_lock(int *lock);
void omp_unset_lock(int *lock);

void omp_init_lock(int *lock)
{
	*lock = 0;
}

void omp_set_lock(int *lock)
{
	*lock = 1;
}

void omp_unset_lock(int *lock)
{
	*lock = 0;
}
#endif
