! SPDX-License-Identifier: MIT
! travellers.f90 - programs in Fortran, for the third set that no rule was set on;
! the number behind each is its steps:
!
!   filtered   220   time steps of shallow water, filtered, a sum each 40
!   splitstep  150   time steps, half a kick, two sweeps, half a kick
program travellers
  implicit none
  character(32) :: name
  call get_command_argument(1, name)
  select case (name)
  case ("filtered")
    call filtered(220)
  case ("splitstep")
    call splitstep(150)
  end select
contains
  subroutine filtered(steps)
    integer, intent(in) :: steps
    integer, parameter :: n = 128
    real(8), allocatable :: h(:, :), u(:, :), v(:, :), old(:, :)
    real(8) :: total
    integer :: t, i, j
    allocate(h(n, n), u(n, n), v(n, n), old(n, n))
    h = 1; u = 0; v = 0; old = 1
    do t = 1, steps
      !$omp parallel do private(i)
      do j = 2, n - 1
        do i = 2, n - 1
          u(i, j) = u(i, j) - 0.1d0 * (h(i + 1, j) - h(i - 1, j))
          v(i, j) = v(i, j) - 0.1d0 * (h(i, j + 1) - h(i, j - 1))
        end do
      end do
      !$omp parallel do private(i)
      do j = 2, n - 1
        do i = 2, n - 1
          h(i, j) = h(i, j) - 0.1d0 * (u(i + 1, j) - u(i - 1, j))
        end do
      end do
      !$omp parallel workshare
      h = 0.98d0 * h + 0.02d0 * old
      old = h
      !$omp end parallel workshare
      if (mod(t, 40) == 0) then
        total = 0
        !$omp parallel do reduction(+:total)
        do j = 1, n
          total = total + sum(h(:, j))
        end do
        print *, t, total
      end if
    end do
    print *, "steps", steps
  end subroutine

  subroutine splitstep(steps)
    integer, intent(in) :: steps
    integer, parameter :: n = 4096
    complex(8), allocatable :: psi(:), work(:)
    integer :: t, i
    allocate(psi(n), work(n))
    psi = (1d0, 0d0)
    work = psi
    do t = 1, steps
      call kick(psi, n)
      !$omp parallel do
      do i = 2, n - 1
        work(i) = psi(i) + (0d0, 0.1d0) * (psi(i + 1) - 2 * psi(i) + psi(i - 1))
      end do
      !$omp parallel do
      do i = 1, n
        psi(i) = work(i) / abs(work(i))
      end do
      call kick(psi, n)
    end do
    print *, real(psi(7))
    print *, "steps", steps
  end subroutine

  subroutine kick(psi, n)
    integer, intent(in) :: n
    complex(8), intent(inout) :: psi(n)
    integer :: i
    !$omp parallel do
    do i = 1, n
      psi(i) = psi(i) * exp((0d0, -1d-3) * i)
    end do
  end subroutine
end program
