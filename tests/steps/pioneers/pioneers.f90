! SPDX-License-Identifier: MIT
! pioneers.f90 - as pioneers.c, in Fortran.
include '../asked.f90'

module pioneers
  implicit none
  integer, parameter :: n = 6000, m = 80
  real(8) :: h(n), u(n), v(n), t(n), s(n), w(n), ubar(n), rho(n)
  real(8) :: fock(m, m), dens(m, m), coef(m, m), grad(m), pos(m)
contains

  subroutine density()
    integer :: i
    !$omp parallel do
    do i = 1, n
      rho(i) = 1000d0 - 0.2d0*t(i) + 0.8d0*s(i)
    end do
  end subroutine

  subroutine advect(x)
    real(8), intent(inout) :: x(n)
    real(8) :: flux(n)
    integer :: i
    !$omp parallel do
    do i = 2, n - 1
      flux(i) = u(i)*(x(i + 1) - x(i - 1))/2
    end do
    !$omp parallel do
    do i = 2, n - 1
      x(i) = x(i) - 1d-3*flux(i)
    end do
  end subroutine

  ! An ocean: slow parts, in each 12 short steps of the surface; a mean each
  ! sixth, a file each twentieth, one Euler step at first.
  subroutine ocean()
    integer :: step, k, i
    real(8) :: total
    h = 1d0; u = 0.01d0; v = 0d0; t = 10d0; s = 35d0
    call density()
    do step = 1, 96
      call density()
      !$omp parallel do
      do i = 2, n - 1
        w(i) = (rho(i + 1) - rho(i - 1))*1d-5
        ubar(i) = u(i)
      end do
      do k = 1, 12
        !$omp parallel do
        do i = 2, n - 1
          ubar(i) = ubar(i) - 1d-3*(h(i + 1) - h(i - 1)) - 1d-3*w(i)
        end do
        !$omp parallel do
        do i = 2, n - 1
          h(i) = h(i) - 1d-3*(ubar(i + 1) - ubar(i - 1))
        end do
      end do
      !$omp parallel do
      do i = 2, n - 1
        u(i) = u(i) + 0.5d0*(ubar(i) - u(i))
        v(i) = 0.99d0*v(i) - 1d-4*u(i)
      end do
      call advect(t)
      call advect(s)
      if (mod(step, 6) == 0) then
        total = 0
        !$omp parallel do reduction(+:total)
        do i = 1, n
          total = total + h(i)*t(i)
        end do
        print *, step, total
      end if
      if (mod(step, 20) == 0) then
        !$omp parallel do
        do i = 1, n
          w(i) = t(i)*h(i)
        end do
        print *, "written", sum(w)
      end if
    end do
    print *, "steps", 96
  end subroutine

  subroutine build_fock()
    integer :: i, j, k
    !$omp parallel do private(j, k) schedule(dynamic)
    do i = 1, m
      do j = 1, m
        fock(j, i) = exp(-abs(pos(i) - pos(j)))
        do k = 1, m
          fock(j, i) = fock(j, i) + 1d-2*dens(k, i)*cos(pos(k))
        end do
      end do
    end do
  end subroutine

  subroutine diagonalize()
    integer :: i
    !$omp parallel do
    do i = 1, m
      coef(:, i) = matmul(fock, coef(:, i))
      coef(:, i) = coef(:, i)/sqrt(sum(coef(:, i)**2))
    end do
  end subroutine

  ! Atoms are moved 16 times; the field in each until it is consistent, from
  ! the second turn on mixed.
  subroutine geometry()
    integer :: move, it, i
    real(8) :: change, fresh(m, m)
    do i = 1, m
      pos(i) = 0.3d0*i
      coef(:, i) = 0.1d0
      coef(i, i) = 1d0
    end do
    dens = 0
    do move = 1, 16
      change = 1
      it = 0
      do while (change > 1d-4 .and. it < 40)
        it = it + 1
        call build_fock()
        call diagonalize()
        !$omp parallel do
        do i = 1, m
          fresh(:, i) = coef(:, 1)*coef(i, 1)
        end do
        change = 0
        !$omp parallel do reduction(max:change)
        do i = 1, m
          change = max(change, maxval(abs(fresh(:, i) - dens(:, i))))
        end do
        if (it > 1) then
          !$omp parallel do
          do i = 1, m
            dens(:, i) = 0.7d0*fresh(:, i) + 0.3d0*dens(:, i)
          end do
        else
          dens = fresh
        end if
      end do
      !$omp parallel do
      do i = 1, m
        grad(i) = sum(fock(:, i)*dens(:, i))
      end do
      pos = pos - 0.05d0*grad
      print *, move, it, sqrt(sum(grad**2))
    end do
    print *, "steps", 16
  end subroutine

  recursive subroutine refine(level, dt)
    integer, intent(in) :: level
    real(8), intent(in) :: dt
    integer :: i, k
    !$omp parallel do
    do i = 2, n - 1
      w(i) = (u(i + 1) - u(i - 1))*dt
    end do
    !$omp parallel do
    do i = 2, n - 1
      u(i) = u(i) - w(i)/2**level
    end do
    if (level == 2) return
    do k = 1, 2
      call refine(level + 1, dt/2)
    end do
    !$omp parallel do
    do i = 2, n - 1, 2
      u(i) = (u(i) + u(i + 1))/2
    end do
  end subroutine

  ! A shock on three grids, each with steps half as long as the one around; the
  ! grids are made anew each fifth step.
  subroutine shock()
    integer :: step, i
    u = 0.1d0
    do step = 1, 60
      if (mod(step, 5) == 1) then
        !$omp parallel do
        do i = 2, n - 1
          rho(i) = abs(u(i + 1) - u(i - 1))
        end do
        !$omp parallel do
        do i = 2, n - 1
          v(i) = merge(1d0, 0d0, rho(i) > 0.1d0)
        end do
      end if
      call refine(0, 1d-3)
    end do
    print *, sum(u)
    print *, "steps", 60
  end subroutine
end module

program main
  use asked
  use pioneers
  implicit none
  select case (asked_for())
  case ("ocean")
    call ocean()
  case ("geometry")
    call geometry()
  case ("shock")
    call shock()
  end select
end program
