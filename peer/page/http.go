package page

import (
	"io/fs"
	"net/http"
	"strings"
)

const policy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'"

// guard refuses what no page of ours would send, before anything is looked at:
// another Host (DNS rebinding), another Origin, a frame around the page.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.hosts[strings.ToLower(r.Host)] {
			s.counts.host.Add(1)
			http.Error(w, "This is not the name of the page.", http.StatusMisdirectedRequest)
			return
		}
		origins := r.Header.Values("Origin")
		if len(origins) > 1 || len(origins) == 1 && origins[0] != "http://"+r.Host {
			s.counts.origin.Add(1)
			http.Error(w, "Requests of other pages are refused.", http.StatusForbidden)
			return
		}
		switch r.Header.Get("Sec-Fetch-Dest") {
		case "iframe", "frame", "object", "embed", "fencedframe":
			s.counts.framed.Add(1)
			http.Error(w, "The page does not go into a frame.", http.StatusForbidden)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "Only GET is served here.", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) routes() http.Handler {
	files, err := fs.Sub(web, "web")
	if err != nil {
		panic(err) // the folder is embedded
	}
	mux := http.NewServeMux()
	static := http.FileServerFS(files)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") && r.URL.Path != "/" {
			http.NotFound(w, r) // no listing of folders
			return
		}
		static.ServeHTTP(w, r)
	})
	mux.HandleFunc("/data.json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(s.data)
	})
	mux.HandleFunc("/ws", s.serveWS)
	return mux
}
