! SPDX-License-Identifier: MIT
! nomads.f90 - as nomads.c, in Fortran: water on a turning ball by Runge and Kutta,
! argon with lists when something moved, a cavity whose vorticity is solved for.
module fields
   implicit none
   integer, parameter :: n = 64
   real(8) :: u(n, n), v(n, n), h(n, n), du(n, n), dv(n, n), dh(n, n)
   real(8) :: u0(n, n), v0(n, n), h0(n, n), psi(n, n), w(n, n), s(n, n)
contains
   subroutine slopes
      integer :: i, j
      !$omp parallel do
      do j = 2, n - 1
         do i = 2, n - 1
            du(i, j) = 0.1*v(i, j) - (h(i + 1, j) - h(i - 1, j))
            dv(i, j) = -0.1*u(i, j) - (h(i, j + 1) - h(i, j - 1))
            dh(i, j) = -(u(i + 1, j) - u(i - 1, j) + v(i, j + 1) - v(i, j - 1))
         end do
      end do
   end subroutine

   subroutine take(dt)
      real(8), intent(in) :: dt
      integer :: j
      !$omp parallel do
      do j = 1, n
         u(:, j) = u0(:, j) + dt*du(:, j)
         v(:, j) = v0(:, j) + dt*dv(:, j)
         h(:, j) = h0(:, j) + dt*dh(:, j)
      end do
   end subroutine

   subroutine water
      integer :: t, k, j
      real(8) :: mass
      h(n/2, n/2) = 1
      do t = 1, 90
         !$omp parallel do
         do j = 1, n
            u0(:, j) = u(:, j)
            v0(:, j) = v(:, j)
            h0(:, j) = h(:, j)
         end do
         do k = 4, 1, -1
            call slopes
            call take(0.01d0/k)
         end do
         if (mod(t, 15) == 0) then
            mass = 0
            !$omp parallel do reduction(+:mass)
            do j = 1, n
               mass = mass + sum(h(:, j))
            end do
            print *, t, mass
         end if
      end do
      print *, "steps", 90
   end subroutine

   subroutine argon
      integer, parameter :: m = 1500
      real(8) :: x(m), p(m), f(m), old(m), most
      integer :: near(8, m), t, i, k, lists
      call random_number(x)
      x = x*m
      p = 0
      old = -10
      lists = 0
      do t = 1, 200
         most = 0
         !$omp parallel do reduction(max:most)
         do i = 1, m
            most = max(most, abs(x(i) - old(i)))
         end do
         if (most > 0.3) then
            lists = lists + 1
            !$omp parallel do schedule(dynamic, 50)
            do i = 1, m
               do k = 1, 8
                  near(k, i) = mod(i*k, m) + 1
               end do
            end do
            !$omp parallel do
            do i = 1, m
               old(i) = x(i)
            end do
         end if
         !$omp parallel do private(k)
         do i = 1, m
            f(i) = 0
            do k = 1, 8
               f(i) = f(i) + sin(x(i) - x(near(k, i)))
            end do
         end do
         !$omp parallel do
         do i = 1, m
            p(i) = p(i) + 0.01*f(i)
            x(i) = x(i) + 0.01*p(i)
         end do
      end do
      print *, "lists", lists
      print *, "steps", 200
   end subroutine

   subroutine cavity
      integer :: t, i, j, k
      real(8) :: error
      do t = 1, 60
         !$omp parallel do
         do j = 2, n - 1
            s(2:n - 1, j) = w(2:n - 1, j) + 0.01*(w(3:n, j) + w(1:n - 2, j) - 2*w(2:n - 1, j))
         end do
         error = 1
         k = 0
         do while (error > 1d-3/t .and. k < 40)
            error = 0
            !$omp parallel do reduction(max:error)
            do j = 2, n - 1
               do i = 2, n - 1
                  error = max(error, abs(s(i, j))*0.8**k)
                  psi(i, j) = 0.25*(psi(i - 1, j) + psi(i + 1, j) + s(i, j))
               end do
            end do
            k = k + 1
         end do
         !$omp parallel do
         do i = 1, n
            s(i, n) = -1 - psi(i, n - 1)
         end do
         !$omp parallel do
         do j = 1, n
            w(:, j) = s(:, j)
         end do
      end do
      print *, "steps", 60
   end subroutine
end module

program nomads
   use fields
   implicit none
   character(len=20) :: name
   call get_command_argument(1, name)
   select case (name)
   case ("water")
      call water
   case ("argon")
      call argon
   case ("cavity")
      call cavity
   end select
end program
