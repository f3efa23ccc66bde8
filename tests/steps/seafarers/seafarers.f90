! SPDX-License-Identifier: MIT
! seafarers.f90 - as seafarers.c, in Fortran.
include '../asked.f90'

module seafarers
  implicit none
  integer, parameter :: n = 5000, groups = 4
  real(8) :: ice(n), bed(n), speed(n), new(n), heat(n), press(n), div(n)
  real(8) :: phi(n, groups), src(n, groups), old(n), sigma(n)
contains

  ! A glacier: a step as long as the ice allows; its speed is iterated until it
  ! stays, its heat each tenth step.
  subroutine glacier()
    integer :: step, k, i, turns
    real(8) :: change, fastest, luck, dt
    ice = 100d0; speed = 0d0; turns = 0
    do i = 1, n
      bed(i) = sin(i*0.01d0)
    end do
    do step = 1, 70
      do k = 1, 25
        turns = turns + 1
        !$omp parallel do
        do i = 2, n - 1
          sigma(i) = 1d0/(1d-2 + abs(speed(i + 1) - speed(i - 1)))
        end do
        change = 0d0
        !$omp parallel do reduction(max:change)
        do i = 2, n - 1
          new(i) = 0.5d0*speed(i) + 0.1d0*sigma(i)*(bed(i) - bed(i - 1))
          change = max(change, abs(new(i) - speed(i)))
        end do
        !$omp parallel do
        do i = 2, n - 1
          speed(i) = new(i)
        end do
        call random_number(luck)
        if (luck < 0.2d0 .and. k > 1) exit
      end do
      fastest = 0d0
      !$omp parallel do reduction(max:fastest)
      do i = 1, n
        fastest = max(fastest, abs(speed(i)))
      end do
      dt = 0.1d0/max(fastest, 1d-3)
      !$omp parallel do
      do i = 2, n - 1
        new(i) = ice(i) - dt*1d-3*(ice(i + 1)*speed(i + 1) - ice(i - 1)*speed(i - 1))
      end do
      !$omp parallel do
      do i = 2, n - 1
        ice(i) = max(new(i), 0d0)
      end do
      if (mod(step, 10) == 0) then
        !$omp parallel do
        do i = 2, n - 1
          heat(i) = heat(i) + 0.1d0*(heat(i - 1) - 2*heat(i) + heat(i + 1)) + 1d-3*ice(i)
        end do
        print *, step, change, dt
      end if
    end do
    print *, "turns", turns
    print *, "steps", 70
  end subroutine

  ! What rises when it is heated: pressure by 20 sweeps, kept each 35.
  subroutine convection()
    integer :: step, sweep, i
    real(8) :: energy
    heat = 0d0; heat(n/2) = 1d0; press = 0d0; speed = 0d0
    do step = 1, 140
      !$omp parallel do
      do i = 2, n - 1
        new(i) = speed(i) + 1d-2*heat(i) - 1d-2*speed(i)*(speed(i + 1) - speed(i - 1))
      end do
      !$omp parallel do
      do i = 2, n - 1
        div(i) = new(i + 1) - new(i - 1)
      end do
      do sweep = 1, 20
        !$omp parallel do
        do i = 2, n - 1, 2
          press(i) = 0.5d0*(press(i - 1) + press(i + 1) - div(i))
        end do
        !$omp parallel do
        do i = 3, n - 1, 2
          press(i) = 0.5d0*(press(i - 1) + press(i + 1) - div(i))
        end do
      end do
      !$omp parallel do
      do i = 2, n - 1
        speed(i) = new(i) - 0.5d0*(press(i + 1) - press(i - 1))
      end do
      !$omp parallel do
      do i = 2, n - 1
        heat(i) = heat(i) - 1d-2*speed(i)*(heat(i) - heat(i - 1))
      end do
      if (mod(step, 35) == 0) then
        energy = 0d0
        !$omp parallel do reduction(+:energy)
        do i = 1, n
          energy = energy + speed(i)**2
        end do
        print *, step, energy
      end if
    end do
    print *, "steps", 140
  end subroutine

  ! A reactor: sources, and for each of four groups six sweeps.
  subroutine reactor()
    integer :: turn, g, sweep, i
    real(8) :: k, total
    phi = 1d0; k = 1d0
    do turn = 1, 30
      !$omp parallel do
      do i = 1, n
        old(i) = sum(phi(i, :))/k
      end do
      do g = 1, groups
        !$omp parallel do
        do i = 1, n
          src(i, g) = old(i)/groups + 0.1d0*phi(i, max(g - 1, 1))
        end do
        do sweep = 1, 6
          !$omp parallel do
          do i = 2, n - 1
            phi(i, g) = 0.4d0*(phi(i - 1, g) + phi(i + 1, g)) + 0.1d0*src(i, g)
          end do
        end do
      end do
      total = 0d0
      !$omp parallel do reduction(+:total)
      do i = 1, n
        total = total + sum(phi(i, :))
      end do
      k = k*total/max(sum(old), 1d-30)
      if (mod(turn, 5) == 0) print *, turn, k
    end do
    print *, "steps", 30
  end subroutine
end module

program main
  use asked
  use seafarers
  implicit none
  select case (asked_for())
  case ("glacier")
    call glacier()
  case ("convection")
    call convection()
  case ("reactor")
    call reactor()
  end select
end program
