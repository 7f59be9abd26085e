// A server of Go's net/http that thinks: /THINK_US/FLUSHED/BODY is a body of so many bytes, the first of them before it thinks.
package main

import (
	"crypto/tls"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func answer(w http.ResponseWriter, r *http.Request) {
	asked := make([]int, 0, 3)
	for _, part := range strings.Split(strings.Trim(r.URL.Path, "/"), "/") {
		number, _ := strconv.Atoi(part)
		asked = append(asked, number)
	}
	think, flushed, body := time.Duration(asked[0])*time.Microsecond, asked[1], asked[2]
	w.Header().Set("Content-Length", strconv.Itoa(body))
	if flushed > 0 {
		w.Write(make([]byte, flushed))
		w.(http.Flusher).Flush()
	}
	time.Sleep(think)
	w.Write(make([]byte, body-flushed))
}

func main() {
	cert, key := os.Args[1], os.Args[2]
	handler := http.HandlerFunc(answer)
	h1 := &http.Server{Addr: ":" + os.Args[4], Handler: handler, TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}}
	go h1.ListenAndServeTLS(cert, key)
	h2 := &http.Server{Addr: ":" + os.Args[3], Handler: handler}
	panic(h2.ListenAndServeTLS(cert, key))
}
