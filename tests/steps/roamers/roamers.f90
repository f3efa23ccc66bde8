! SPDX-License-Identifier: MIT
! roamers.f90 - as roamers.c, in Fortran.
include '../asked.f90'

module roamers
  implicit none
  integer, parameter :: n = 48, m = 4000
contains
  ! Waves in three dimensions, kept each 45 time steps.
  subroutine waves()
    real(8), allocatable :: u(:, :, :), v(:, :, :), w(:, :, :)
    integer :: step, i, j, k
    allocate (u(n, n, n), v(n, n, n), w(n, n, n))
    u = 0
    v = 0
    u(n / 2, n / 2, n / 2) = 1
    do step = 1, 180
      !$omp parallel do private(i, j)
      do k = 2, n - 1
        do j = 2, n - 1
          do i = 2, n - 1
            w(i, j, k) = 2 * u(i, j, k) - v(i, j, k) + 0.1d0 * (u(i + 1, j, k) + u(i - 1, j, k) &
              + u(i, j + 1, k) + u(i, j - 1, k) + u(i, j, k + 1) + u(i, j, k - 1) - 6 * u(i, j, k))
          end do
        end do
      end do
      !$omp parallel do
      do k = 1, n
        w(1, :, k) = u(2, :, k)
        w(n, :, k) = u(n - 1, :, k)
      end do
      !$omp parallel do
      do k = 1, n
        v(:, :, k) = u(:, :, k)
        u(:, :, k) = w(:, :, k)
      end do
      if (mod(step, 45) == 0) print *, step, sum(u)
    end do
    print *, "steps", 180
  end subroutine

  ! A field that is its own source, mixed until it stays.
  subroutine field()
    real(8), allocatable :: rho(:), pot(:), next(:)
    real(8) :: off
    integer :: i, turns
    allocate (rho(m), pot(m), next(m))
    rho = 1
    turns = 0
    off = 1
    do while (off > 1d-6)
      !$omp parallel do
      do i = 1, m
        pot(i) = rho(i) / (1 + rho(i)) + 1d-4 * i
      end do
      !$omp parallel do
      do i = 1, m
        next(i) = exp(-pot(i))
      end do
      off = 0
      !$omp parallel do reduction(max : off)
      do i = 1, m
        off = max(off, abs(next(i) - rho(i)))
      end do
      !$omp parallel do
      do i = 1, m
        rho(i) = 0.8d0 * rho(i) + 0.2d0 * next(i)
      end do
      turns = turns + 1
    end do
    print *, "steps", turns
  end subroutine
end module

program main
  use asked
  use roamers
  implicit none
  select case (asked_for())
  case ("waves")
    call waves()
  case ("field")
    call field()
  end select
end program
