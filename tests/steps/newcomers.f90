! SPDX-License-Identifier: MIT
! newcomers.f90 - as newcomers.c:
!
!   argon   200   time steps, a list each 15, a rescaling each 10 of the first 100
!   fields  10    geometries, their fields made consistent; or all the fields'
!                 iterations (it says how many)
!   ocean   60    time steps of 30 short ones each, an output each 10
program newcomers
  implicit none
  integer, parameter :: n = 4000
  character(32) :: name
  real(8) :: a(n), b(n), c(n), d(n), e(n)
  a = 1; b = 0; c = 0; d = 0.5d0; e = 0
  call get_command_argument(1, name)
  select case (name)
  case ("argon")
    call argon(200)
  case ("fields")
    call fields(10)
  case ("ocean")
    call ocean(60)
  end select
contains
  subroutine argon(steps)
    integer, intent(in) :: steps
    real(8) :: kinetic
    integer :: t, i, near(n)
    near = 1
    do t = 0, steps - 1
      if (mod(t, 15) == 0) then
        !$omp parallel do schedule(dynamic, 100)
        do i = 1, n
          near(i) = 1 + mod(i * 31 + t, n)
        end do
      end if
      !$omp parallel do
      do i = 1, n
        b(i) = b(i) + 0.001d0 * c(i)
        a(i) = a(i) + 0.002d0 * b(i)
      end do
      !$omp parallel do schedule(guided)
      do i = 1, n
        c(i) = a(near(i)) - a(i)
      end do
      kinetic = 0
      !$omp parallel do reduction(+:kinetic)
      do i = 1, n
        b(i) = b(i) + 0.001d0 * c(i)
        kinetic = kinetic + b(i)**2
      end do
      if (t < 100 .and. mod(t, 10) == 0) then
        !$omp parallel do
        do i = 1, n
          b(i) = b(i) * 0.99d0
        end do
      end if
    end do
    print *, kinetic
    print *, "steps", steps
  end subroutine

  subroutine fields(geometries)
    integer, intent(in) :: geometries
    real(8) :: energy
    integer :: k, it, i, most
    do k = 1, geometries
      most = 8 + mod(k * 7, 6)
      !$omp parallel do
      do i = 1, n
        d(i) = 0.5d0 + 0.01d0 * k
      end do
      !$omp parallel do schedule(dynamic, 50)
      do i = 1, n
        e(i) = exp(-d(i) * i / n)
      end do
      do it = 1, most
        !$omp parallel do schedule(dynamic, 50)
        do i = 1, n
          b(i) = e(i) * d(i)
        end do
        !$omp parallel workshare
        c = 0.7d0 * c + 0.3d0 * b
        !$omp end parallel workshare
        energy = 0
        !$omp parallel do reduction(+:energy)
        do i = 1, n
          energy = energy + c(i) * e(i)
        end do
        !$omp parallel do
        do i = 1, n
          d(i) = 0.5d0 * d(i) + 0.5d0 * c(i)
        end do
      end do
      !$omp parallel do
      do i = 1, n
        a(i) = a(i) - 0.1d0 * d(i)
      end do
      print *, k, energy
    end do
    print *, "steps", geometries
  end subroutine

  subroutine ocean(steps)
    integer, intent(in) :: steps
    real(8) :: mean
    integer :: t, s, i
    do t = 1, steps
      !$omp parallel do
      do i = 1, n
        e(i) = 0.1d0 * (a(i) - d(i))
      end do
      !$omp parallel do
      do i = 2, n - 1
        d(i) = d(i) + 0.01d0 * (e(i + 1) - e(i - 1))
      end do
      do s = 1, 30
        !$omp parallel do
        do i = 2, n
          b(i) = b(i) - 0.1d0 * (c(i) - c(i - 1))
        end do
        !$omp parallel do
        do i = 1, n - 1
          c(i) = c(i) - 0.1d0 * (b(i + 1) - b(i))
        end do
      end do
      !$omp parallel do
      do i = 1, n
        a(i) = a(i) + 0.01d0 * (b(i) + e(i))
      end do
      if (mod(t, 10) == 0) then
        mean = 0
        !$omp parallel do reduction(+:mean)
        do i = 1, n
          mean = mean + a(i)
        end do
        print *, t, mean / n
      end if
    end do
    print *, "steps", steps
  end subroutine
end program
