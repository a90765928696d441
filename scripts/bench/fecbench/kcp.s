// See kcp.go.
