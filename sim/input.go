package sim

// Bits of the input word. Bits 12…15 are reserved and ignored.
const (
	UpBit uint16 = 1 << iota
	DownBit
	LeftBit
	RightBit
	LightBit
	MediumBit
	HeavyBit
	SpecialBit
	ThrowBit
	AssistBit // assist 1, tag
	StanceBit // assist 2, stance
	SuperBit
)

const (
	directions = UpBit | DownBit | LeftBit | RightBit
	buttons    = 0xff << 4
)

// Clean is the word the simulation acts on: reserved bits gone, left+right and up+down neutral.
func Clean(word uint16) uint16 {
	word &= directions | buttons
	if word&(LeftBit|RightBit) == LeftBit|RightBit {
		word &^= LeftBit | RightBit
	}
	if word&(UpBit|DownBit) == UpBit|DownBit {
		word &^= UpBit | DownBit
	}
	return word
}

// control is all that a step reads of an Input.
type control struct {
	held    uint16 // directions held
	pressed uint16 // buttons, and LeftBit or RightBit, that went down in this frame
}

func derive(in Input) control {
	now, prev := Clean(in.Now), Clean(in.Prev)
	return control{held: now & directions, pressed: now &^ prev & (buttons | LeftBit | RightBit)}
}

// An entry of the input buffer: bits 0…7 the buttons pressed, 8…11 the directions held then (in the order of the word),
// 12 and 13 a dash to the left and to the right.
const (
	entryButtons   uint16 = 0xff
	entryShift            = 8
	entryDashLeft  uint16 = 1 << 12
	entryDashRight uint16 = 1 << 13
	entryDash             = entryDashLeft | entryDashRight
	entryBits             = 0x3fff
)

// slot gives the buffer entry of age frames ago.
func (f *Fighter) entry(age int32) *uint16 {
	return &f.Buffer[uint32(f.Clock-age+BufferFrames)%BufferFrames]
}

// record takes the presses of a frame into the buffer. In hitstop the buffer stands still: presses gather in the newest entry
// and can be used on the first frame after it.
func (f *Fighter) record(c control, window int32, frozen bool) {
	if !frozen {
		f.Clock++
		*f.entry(0) = 0
		if f.TapTimer > 0 {
			if f.TapTimer--; f.TapTimer == 0 {
				f.TapDir = 0
			}
		}
	}
	e := f.entry(0)
	if b := c.pressed >> 4 & entryButtons; b != 0 {
		*e = *e&(entryButtons|entryDash) | b | c.held<<entryShift
	}
	if tap := c.pressed & (LeftBit | RightBit); tap != 0 {
		dir := int8(1)
		if tap == LeftBit {
			dir = -1
		}
		if f.TapDir == dir {
			*e |= dashBit(dir)
			f.TapDir, f.TapTimer = 0, 0
		} else {
			f.TapDir, f.TapTimer = dir, uint8(window)
		}
	}
}

func dashBit(dir int8) uint16 {
	if dir < 0 {
		return entryDashLeft
	}
	return entryDashRight
}

// toward gives -1, 0 or 1: the direction held along the stage.
func toward(held uint16) int8 {
	switch {
	case held&LeftBit != 0:
		return -1
	case held&RightBit != 0:
		return 1
	}
	return 0
}
