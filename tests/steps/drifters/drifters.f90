! SPDX-License-Identifier: MIT
! drifters.f90 - as drifters.c, in Fortran.
include '../asked.f90'

module drifters
  implicit none
  integer, parameter :: n = 4096
  real(8) :: u(n), v(n), w(n), p(n), q(n)
contains

  subroutine sweep(x, rhs)
    real(8), intent(inout) :: x(n)
    real(8), intent(in) :: rhs(n)
    integer :: i
    !$omp parallel do
    do i = 2, n - 1
      x(i) = 0.5d0*(x(i - 1) + x(i + 1) + rhs(i))
    end do
  end subroutine

  ! A duct: momentum in two directions by five sweeps each, the pressure by
  ! twenty, corrected; the residual each tenth.
  subroutine duct()
    integer :: t, k, i
    real(8) :: rest
    do t = 1, 70
      do k = 1, 5
        call sweep(u, p)
      end do
      do k = 1, 5
        call sweep(v, p)
      end do
      !$omp parallel do
      do i = 2, n - 1
        q(i) = u(i + 1) - u(i - 1) + v(i + 1) - v(i - 1)
      end do
      do k = 1, 20
        call sweep(p, q)
      end do
      !$omp parallel do
      do i = 2, n - 1
        u(i) = u(i) - 0.1d0*(p(i + 1) - p(i - 1))
        v(i) = v(i) - 0.1d0*(p(i + 1) - p(i - 1))
      end do
      if (mod(t, 10) == 0) then
        rest = 0
        !$omp parallel do reduction(+:rest)
        do i = 1, n
          rest = rest + abs(q(i))
        end do
        print *, t, rest
      end if
    end do
    print *, "steps", 70
  end subroutine

  ! Weather: a day of ten minutes; leapfrog, a filter, what the sun does each
  ! sixth.
  subroutine weather()
    integer :: t, i
    do t = 0, 143
      if (mod(t, 6) == 0) then
        !$omp parallel do
        do i = 1, n
          q(i) = sin(0.01d0*i + t)
        end do
        !$omp parallel do
        do i = 2, n
          q(i) = q(i) + 0.1d0*q(i - 1)
        end do
      end if
      !$omp parallel do
      do i = 2, n - 1
        w(i) = u(i) - 0.1d0*(v(i + 1) - v(i - 1)) + 0.01d0*q(i)
      end do
      !$omp parallel do
      do i = 1, n
        v(i) = v(i) + 0.05d0*(u(i) - 2*v(i) + w(i))
      end do
      !$omp parallel do
      do i = 1, n
        u(i) = v(i)
        v(i) = w(i)
      end do
    end do
    print *, "steps", 144
  end subroutine

  ! 15 geometries of a molecule, each with as many iterations of its field as
  ! it takes.
  subroutine bonds()
    integer :: t, k, i, most
    real(8) :: energy
    do t = 1, 15
      most = 7 + mod(t*5, 8)
      !$omp parallel do
      do i = 1, n
        u(i) = t*0.1d0*i
      end do
      !$omp parallel do
      do i = 1, n
        v(i) = 1/(1 + u(i))
      end do
      do k = 1, most
        energy = 0
        !$omp parallel do
        do i = 2, n
          w(i) = v(i)*v(i - 1)
        end do
        !$omp parallel do
        do i = 1, n
          p(i) = w(i)*0.5d0 + p(i)*0.5d0
        end do
        !$omp parallel do reduction(+:energy)
        do i = 1, n
          energy = energy + p(i)*w(i)
        end do
        !$omp parallel do
        do i = 1, n
          v(i) = 0.9d0*v(i) + 0.1d0*p(i)
        end do
      end do
      !$omp parallel do
      do i = 1, n
        q(i) = q(i) + v(i)
      end do
      print *, t, energy
    end do
    print *, "steps", 15
  end subroutine
end module

program main
  use asked
  use drifters
  implicit none
  select case (asked_for())
  case ("duct")
    call duct()
  case ("weather")
    call weather()
  case ("bonds")
    call bonds()
  end select
end program
