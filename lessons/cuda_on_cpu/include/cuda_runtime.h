// NVRTC has all of it built in, and so has the emulator.
#pragma once
