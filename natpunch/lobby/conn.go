package lobby

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"backstep/natpunch/rendezvous"
)

// errDropped means that the WebSocket ended without a message that says why.
var errDropped = errors.New("lobby: connection dropped")

// conn is one WebSocket to a relay. One goroutine reads into a bounded queue and
// one keeps the connection alive; close ends both.
type conn struct {
	ws     *websocket.Conn
	relay  string // host:port
	scheme string // ws or wss
	remote netip.AddrPort
	in     chan []byte // closed by the reader when the connection has ended
	write  time.Duration

	stop context.CancelFunc
	done sync.WaitGroup
}

// queueLen is how many messages may wait before TCP makes the relay wait.
const queueLen = 16

// dial opens the lobby WebSocket of one relay. Relays with a host name are tried
// with TLS first and in clear if they do not speak it: the key agreement does not
// need TLS, it only keeps a passive eavesdropper from stealing the relay binding.
func dial(ctx context.Context, cfg *Config, relay string) (*conn, error) {
	hostPort, err := rendezvous.RelayHostPort(relay)
	if err != nil {
		return nil, err
	}
	schemes := []string{"ws"}
	if host, _, _ := net.SplitHostPort(hostPort); host != "localhost" {
		if _, err := netip.ParseAddr(host); err != nil {
			schemes = []string{"wss", "ws"}
		}
	}
	for _, scheme := range schemes {
		var c *conn
		if c, err = dialScheme(ctx, cfg, scheme, hostPort); err == nil {
			return c, nil
		}
		var handshake *handshakeError
		if !errors.As(err, &handshake) {
			break
		}
		cfg.Log.Debug().Str("relay", relay).Err(handshake.err).Msg("relay does not speak TLS with a certificate we trust")
	}
	return nil, fmt.Errorf("relay %s: %w", relay, err)
}

// handshakeError is a failure after TCP was connected and before HTTP answered.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return e.err.Error() }
func (e *handshakeError) Unwrap() error { return ErrUnreachable }

func dialScheme(ctx context.Context, cfg *Config, scheme, hostPort string) (*conn, error) {
	ws, connected, err := dialWebSocket(ctx, cfg, scheme, hostPort, rendezvous.LobbyPath)
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(rendezvous.MaxMessage)
	c := &conn{ws: ws, relay: hostPort, scheme: scheme, in: make(chan []byte, queueLen), write: cfg.timing.write}
	if tcp, ok := connected.RemoteAddr().(*net.TCPAddr); ok {
		ap := tcp.AddrPort()
		c.remote = netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	// The connection outlives the call that dialled it.
	life, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.done.Go(func() { c.reader(life) })
	c.done.Go(func() { c.pinger(life, cfg.timing.ping) })
	return c, nil
}

// dialWebSocket opens one of the relay's WebSockets and also returns the
// connection under it.
func dialWebSocket(ctx context.Context, cfg *Config, scheme, hostPort, path string) (*websocket.Conn, net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.timing.connect)
	defer cancel()
	var mu sync.Mutex
	var connected net.Conn
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := cfg.Dial(ctx, network, address)
			if err == nil {
				mu.Lock()
				connected = c
				mu.Unlock()
			}
			return c, err
		},
		TLSClientConfig:        cfg.TLS.Clone(),
		TLSHandshakeTimeout:    cfg.timing.connect / 2,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: 16 << 10,
	}
	defer transport.CloseIdleConnections()
	header := http.Header{}
	if cfg.Token != "" {
		header.Set("Authorization", "Bearer "+cfg.Token)
	}
	target := url.URL{Scheme: scheme, Host: hostPort, Path: path}
	ws, resp, err := websocket.Dial(ctx, target.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport: transport,
			// A redirect would carry the token and the code's lookup elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader:      header,
		CompressionMode: websocket.CompressionDisabled,
	})
	mu.Lock()
	defer mu.Unlock()
	if err != nil {
		return nil, nil, dialError(scheme, resp, connected != nil, err)
	}
	return ws, connected, nil
}

func dialError(scheme string, resp *http.Response, connected bool, err error) error {
	if resp == nil {
		err = shortest(err)
		if connected && scheme == "wss" {
			return &handshakeError{err}
		}
		return fmt.Errorf("%w (%w)", ErrUnreachable, err)
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return ErrUnauthorized
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if s := resp.Header.Get("Retry-After"); s != "" && len(s) <= 5 {
			return fmt.Errorf("%w (it says in %s s)", ErrBusy, rendezvous.CleanText(s))
		}
		return ErrBusy
	}
	return fmt.Errorf("%w (a web server answered with status %d where a relay should be)", ErrUnreachable, resp.StatusCode)
}

// shortest strips what the libraries wrap around a network error: a player needs
// "connection refused", not the way it took.
func shortest(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("no answer")
	}
	var op *net.OpError
	if errors.As(err, &op) {
		var dns *net.DNSError
		if errors.As(err, &dns) {
			return fmt.Errorf("the name %s is not known", dns.Name)
		}
		return op.Err
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func (c *conn) reader(ctx context.Context) {
	defer close(c.in)
	for {
		kind, b, err := c.ws.Read(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageBinary {
			b = nil // no message of ours: the receiver refuses it
		}
		select {
		case c.in <- b:
		case <-ctx.Done():
			return
		}
	}
}

// pinger notices a relay that went away without a word, and keeps NATs from
// forgetting the connection.
func (c *conn) pinger(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		pctx, cancel := context.WithTimeout(ctx, every)
		err := c.ws.Ping(pctx)
		cancel()
		if err != nil {
			c.ws.CloseNow()
			return
		}
	}
}

// send writes one message.
func (c *conn) send(b []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.write)
	defer cancel()
	if err := c.ws.Write(ctx, websocket.MessageBinary, b); err != nil {
		return fmt.Errorf("%w: %w", errDropped, err)
	}
	return nil
}

// recv waits for a message, the context or the end of the connection.
func (c *conn) recv(ctx context.Context) ([]byte, error) {
	select {
	case b, ok := <-c.in:
		if !ok {
			return nil, errDropped
		}
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ping measures the round trip to the relay.
func (c *conn) ping(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	if err := c.ws.Ping(ctx); err != nil {
		return 0, fmt.Errorf("%w: %w", errDropped, err)
	}
	return time.Since(start), nil
}

// goodbye is how long a clean close may take.
const goodbye = time.Second

// close says goodbye, so that the relay frees what it holds at once, and waits
// for both goroutines.
func (c *conn) close() {
	hurry := time.AfterFunc(goodbye, func() { c.ws.CloseNow() })
	// The reader must not sit on a full queue while Close waits for the answer.
	c.done.Go(func() {
		for range c.in {
		}
	})
	c.ws.Close(websocket.StatusNormalClosure, "")
	hurry.Stop()
	c.stop()
	c.ws.CloseNow()
	c.done.Wait()
}
