package wire

// InputFlags are the two flags of the input window, which say how a loss of this packet's inputs is made good.
type InputFlags uint8

const (
	// EveryFrameInputSend: a packet with the inputs goes out every frame, and this one reaches to the current frame.
	EveryFrameInputSend InputFlags = flagEveryFrameInputSend
	// BatchResendForLossRecovery: the packet resends the frames before it too, without a gap.
	BatchResendForLossRecovery InputFlags = flagBatchResend
)

// InputFlags are p's two window flags: both if p.Current, else none.
func (p *Packet) InputFlags() InputFlags {
	if p.Current {
		return EveryFrameInputSend | BatchResendForLossRecovery
	}
	return 0
}

// Window picks the words a packet carries out of the frames the sender holds and still has to send, in ascending order: from the
// oldest one on as far as they are contiguous, at most MaxCount. isCurrent, which belongs into Packet.Current, reports whether
// that leaves none out and ends at current. It does not allocate.
func Window(frames []int32, current int32) (first int32, count int, isCurrent bool) {
	if len(frames) == 0 {
		return 0, 0, false
	}
	first, count = frames[0], 1
	for count < min(len(frames), MaxCount) && frames[count] == first+int32(count) {
		count++
	}
	return first, count, count == len(frames) && frames[count-1] == current
}
