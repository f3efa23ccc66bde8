! SPDX-License-Identifier: MIT
! rovers.f90 - as rovers.c, in Fortran.
include '../asked.f90'

module rovers
  implicit none
  integer, parameter :: n = 4096
  real(8), dimension(n) :: h, u, hnew, unew, hold, uold, c, d, e
contains

  ! Waves by leaps over two levels, smoothed in time.
  subroutine ocean()
    integer :: t, i
    real(8) :: energy
    h = 1
    h(n/2) = 1.1d0
    hold = h
    uold = 0
    u = 0
    do t = 1, 320
      !$omp parallel do
      do i = 2, n - 1
        hnew(i) = hold(i) - 0.1d0*(u(i + 1) - u(i - 1))
        unew(i) = uold(i) - 0.1d0*(h(i + 1) - h(i - 1))
      end do
      !$omp parallel do
      do i = 2, n - 1
        hold(i) = h(i) + 0.05d0*(hnew(i) - 2*h(i) + hold(i))
        uold(i) = u(i) + 0.05d0*(unew(i) - 2*u(i) + uold(i))
      end do
      !$omp parallel workshare
      h(2:n - 1) = hnew(2:n - 1)
      u(2:n - 1) = unew(2:n - 1)
      !$omp end parallel workshare
      if (mod(t, 64) == 0) then
        energy = 0
        !$omp parallel do reduction(+:energy)
        do i = 1, n
          energy = energy + h(i)**2 + u(i)**2
        end do
        print *, t, energy
      end if
    end do
    print *, 'steps', 320
  end subroutine

  subroutine carry(x, y)
    real(8), intent(in) :: x(n)
    real(8), intent(out) :: y(n)
    integer :: i
    !$omp parallel do
    do i = 2, n
      y(i) = x(i) - 0.3d0*(x(i) - x(i - 1))
    end do
  end subroutine

  ! Air: carried along one way and the other, and what reacts does so in as many
  ! parts of the step as it needs.
  subroutine air()
    integer :: t, i, k, parts
    real(8) :: fast
    c = 1
    d = 0.5d0
    parts = 3
    do t = 1, 90
      call carry(c, e)
      call carry(e, c)
      fast = 0
      !$omp parallel do reduction(max:fast)
      do i = 1, n
        fast = max(fast, c(i)*d(i))
      end do
      parts = 2 + mod(int(fast*10) + t, 5)
      do k = 1, parts
        !$omp parallel do
        do i = 1, n
          d(i) = d(i) + 0.01d0*(c(i) - d(i)*c(i))/parts
        end do
      end do
    end do
    print *, 'steps', 90
  end subroutine
end module

program main
  use asked
  use rovers
  implicit none
  select case (asked_for())
  case ("ocean")
    call ocean()
  case ("air")
    call air()
  end select
end program
