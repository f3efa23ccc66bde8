! SPDX-License-Identifier: MIT
! guests.f90 - programs as people write them in Fortran; see guests.c.
!
!   wave     400  time steps of two regions, a snapshot every 100
!   argon    250  time steps, a new list when atoms have moved
!   cavity    80  iterations: momentum, 10 sweeps of pressure, correction
module work
  implicit none
  integer, parameter :: n = 4096
  real(8) :: a(n), b(n), c(n), d(n)
contains
  subroutine wave(steps)
    integer, intent(in) :: steps
    integer :: t, i
    real(8) :: total
    a = 0; b = 0; a(n / 2) = 1
    do t = 1, steps
!$omp parallel do
      do i = 2, n - 1
        c(i) = 2 * a(i) - b(i) + 0.1d0 * (a(i - 1) - 2 * a(i) + a(i + 1))
      end do
!$omp parallel do
      do i = 1, n
        b(i) = a(i); a(i) = c(i)
      end do
      if (mod(t, 100) == 0) then
        total = 0
!$omp parallel do reduction(+:total)
        do i = 1, n
          total = total + a(i)**2
        end do
        write(0, *) t, total
      end if
    end do
  end subroutine

  subroutine list()
    integer :: i
!$omp parallel do schedule(dynamic, 64)
    do i = 1, n
      d(i) = mod(i * 7, n) + 1
    end do
  end subroutine

  subroutine force(energy)
    real(8), intent(out) :: energy
    integer :: i
    energy = 0
!$omp parallel do reduction(+:energy)
    do i = 1, n
      c(i) = a(int(d(i))) - a(i); energy = energy + c(i)**2
    end do
  end subroutine

  subroutine argon(steps)
    integer, intent(in) :: steps
    integer :: t, i
    real(8) :: energy, moved
    a = [(sin(real(i, 8)), i = 1, n)]; b = 0
    call list()
    call force(energy)
    do t = 1, steps
!$omp parallel do
      do i = 1, n
        b(i) = b(i) + 0.005d0 * c(i); a(i) = a(i) + 0.01d0 * b(i)
      end do
      moved = 0
!$omp parallel do reduction(max:moved)
      do i = 1, n
        moved = max(moved, abs(b(i)))
      end do
      if (mod(t * t, 17) < 2) call list()
      call force(energy)
!$omp parallel do
      do i = 1, n
        b(i) = b(i) + 0.005d0 * c(i)
      end do
    end do
  end subroutine

  subroutine cavity(steps)
    integer, intent(in) :: steps
    integer :: t, k, i
    real(8) :: worst
    a = 1; b = 0; c = 0
    do t = 1, steps
!$omp parallel do
      do i = 2, n - 1
        a(i) = a(i) + 0.1d0 * (a(i - 1) - 2 * a(i) + a(i + 1)) - 0.01d0 * (c(i + 1) - c(i))
      end do
      do k = 1, 10
!$omp parallel do
        do i = 2, n - 1
          d(i) = 0.5d0 * (c(i - 1) + c(i + 1)) - a(i)
        end do
!$omp parallel do
        do i = 2, n - 1
          c(i) = d(i)
        end do
      end do
!$omp parallel do
      do i = 2, n - 1
        a(i) = a(i) - 0.01d0 * (c(i + 1) - c(i))
      end do
      worst = 0
!$omp parallel do reduction(max:worst)
      do i = 2, n - 1
        worst = max(worst, abs(a(i) - b(i))); b(i) = a(i)
      end do
    end do
  end subroutine
end module

program guests
  use work
  character(16) :: name
  call get_command_argument(1, name)
  select case (name)
  case ("wave")
    call wave(400); print "(a)", "steps 400"
  case ("argon")
    call argon(250); print "(a)", "steps 250"
  case ("cavity")
    call cavity(80); print "(a)", "steps 80"
  end select
end program
