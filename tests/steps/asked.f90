! SPDX-License-Identifier: MIT
! asked.f90 - which of a file's programs is to run: its first argument.
module asked
  implicit none
contains

  function asked_for() result(name)
    character(16) :: name
    call get_command_argument(1, name)
  end function
end module
