! SPDX-License-Identifier: MIT
! voyagers.f90 - as voyagers.c, in Fortran.
include '../asked.f90'

module voyagers
  implicit none
  integer, parameter :: n = 5000, m = 60
  real(8) :: rho(n), u(n), b(n), e(n), flux(n), half(n)
  real(8) :: fock(m, m), dens(m, m), old(m, m), coef(m, m), pos(m)
contains

  subroutine fluxes(x)
    real(8), intent(in) :: x(n)
    integer :: i
    !$omp parallel do
    do i = 2, n - 1
      flux(i) = 0.5d0*(x(i + 1) - x(i - 1))
    end do
  end subroutine

  subroutine advance(x, dt)
    real(8), intent(inout) :: x(n)
    real(8), intent(in) :: dt
    integer :: i
    !$omp parallel do
    do i = 2, n - 1
      x(i) = x(i) - dt*flux(i)
    end do
  end subroutine

  ! A plasma: a step as long as waves allow, half of it first; the field is
  ! cleaned each tenth, a file each fiftieth.
  subroutine plasma()
    integer :: step, i, k
    real(8) :: fastest, dt
    rho = 1d0; u = 0.1d0; b = 0.5d0; e = 1d0
    do step = 1, 150
      fastest = 0d0
      !$omp parallel do reduction(max:fastest)
      do i = 1, n
        fastest = max(fastest, abs(u(i)) + sqrt(b(i)**2/rho(i)))
      end do
      dt = 1d-3/max(fastest, 1d-3)
      do k = 1, 2
        call fluxes(rho)
        call advance(rho, dt*k/2)
        call fluxes(u)
        call advance(u, dt*k/2)
        call fluxes(b)
        call advance(b, dt*k/2)
        !$omp parallel do
        do i = 1, n
          e(i) = 0.5d0*(u(i)**2 + b(i)**2)
        end do
      end do
      if (mod(step, 10) == 0) then
        do k = 1, 15
          !$omp parallel do
          do i = 2, n - 1
            half(i) = 0.5d0*(half(i - 1) + half(i + 1)) - b(i)
          end do
        end do
        !$omp parallel do
        do i = 2, n - 1
          b(i) = b(i) - 1d-6*half(i)
        end do
      end if
      if (mod(step, 50) == 0) print *, step, sum(e)
    end do
    print *, "steps", 150
  end subroutine

  ! Fourteen geometries, the field of each until it is consistent.
  subroutine curve()
    integer :: at, turn, turns, i, j, k
    real(8) :: change, luck
    turns = 0
    dens = 0d0
    do at = 1, 14
      !$omp parallel do
      do i = 1, m
        pos(i) = i*(0.8d0 + 0.05d0*at)
      end do
      !$omp parallel do private(j)
      do i = 1, m
        do j = 1, m
          coef(j, i) = exp(-abs(pos(i) - pos(j)))
        end do
      end do
      change = 1d0
      do turn = 1, 40
        turns = turns + 1
        !$omp parallel do private(j, k)
        do i = 1, m
          do j = 1, m
            fock(j, i) = coef(j, i)
            do k = 1, m
              fock(j, i) = fock(j, i) + 1d-2*dens(k, i)*coef(k, j)
            end do
          end do
        end do
        old = dens
        !$omp parallel do private(j)
        do i = 1, m
          do j = 1, m
            dens(j, i) = 0.5d0*old(j, i) + 0.5d0*tanh(fock(j, i))
          end do
        end do
        change = 0d0
        !$omp parallel do reduction(+:change)
        do i = 1, m
          change = change + sum(abs(dens(:, i) - old(:, i)))
        end do
        call random_number(luck)
        if (luck < 0.12d0 .and. turn > 3) exit
      end do
      print *, at, turn, change
    end do
    print *, "turns", turns
    print *, "steps", 14
  end subroutine

  ! By directions in turn, three of them; what is heated moves.
  subroutine directions()
    integer :: step, dir, i
    real(8) :: total
    u = 0d0; u(n/2) = 1d0
    do step = 1, 90
      !$omp parallel do
      do i = 1, n
        e(i) = merge(1d0, 0d0, abs(i - n/2 - 10*step) < 20)
      end do
      do dir = 1, 3
        !$omp parallel do
        do i = 2, n - 1
          half(i) = u(i) + 0.1d0*(u(i - 1) - 2*u(i) + u(i + 1)) + 0.01d0*e(i)
        end do
        !$omp parallel do
        do i = 1, n
          u(i) = half(i)
        end do
      end do
      if (mod(step, 15) == 0) then
        total = 0d0
        !$omp parallel do reduction(+:total)
        do i = 1, n
          total = total + u(i)
        end do
        print *, step, total
      end if
    end do
    print *, "steps", 90
  end subroutine
end module

program main
  use asked
  use voyagers
  implicit none
  select case (asked_for())
  case ("plasma")
    call plasma()
  case ("curve")
    call curve()
  case ("directions")
    call directions()
  end select
end program
