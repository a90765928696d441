package page

import "rsc.io/qr"

// QR is a QR code as rows of 0 and 1, without the quiet zone, so that the page
// can draw it and say what it holds.
type QR struct {
	Size int      `json:"size"`
	Rows []string `json:"rows"`
}

// EncodeQR makes the code of a text; nil if it is too long for one.
func EncodeQR(text string) *QR {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil
	}
	q := &QR{Size: code.Size}
	for y := range code.Size {
		row := make([]byte, code.Size)
		for x := range row {
			row[x] = '0'
			if code.Black(x, y) {
				row[x] = '1'
			}
		}
		q.Rows = append(q.Rows, string(row))
	}
	return q
}
