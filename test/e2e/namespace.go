//go:build linux && e2e

package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ctxls/ctxls/internal/tools/npm"
)

// Where the programs are, as the outer process tells the one inside the namespace. insideVar also says that this is the latter,
// so that it never starts another.
const (
	insideVar = "CTXLS_E2E_INSIDE"
	hostVar   = "CTXLS_E2E_HOST"
	ctxlsVar  = "CTXLS_E2E_BIN"
)

// HostBin returns the path of the host's program.
func HostBin() string { return os.Getenv(hostVar) }

// CTXLSBin returns the path of ctxls, built from this tree.
func CTXLSBin() string { return os.Getenv(ctxlsVar) }

// A Host is a program from the npm registry that tests run for real.
type Host struct {
	// Name is that of its directory in the cache.
	Name string
	// Program returns where npm puts the program below node_modules, for an architecture in npm's words: "x64" or "arm64".
	Program func(arch string) string
}

// Main is the TestMain of a package that tests with host: it runs the tests in a network namespace of their own. Nothing that
// they start can reach any other machine. The package's directory host holds package.json and package-lock.json.
func Main(m *testing.M, host Host) {
	if os.Getenv(insideVar) != "" {
		if err := onlyLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	code, err := outside(host)
	if err != nil {
		fmt.Fprintf(os.Stderr, "not run: the tests with the real %s: %v\n", host.Name, err)
		if code = 0; os.Getenv("CI") == "true" {
			code = 1 // CI must run all tests
		}
	}
	os.Exit(code)
}

// outside gets the programs, which needs the network, and runs this program again inside a namespace, which has none.
func outside(host Host) (code int, err error) {
	unshare, err := namespace()
	if err != nil {
		return 0, err
	}
	program, err := host.install()
	if err != nil {
		return 0, err
	}
	bin, err := os.MkdirTemp("", "ctxls-e2e-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(bin)
	ctxls := filepath.Join(bin, "ctxls")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", ctxls, "../../cmd/ctxls").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building ctxls: %w\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(unshare[0], append(append(unshare[1:], self), os.Args[1:]...)...)
	cmd.Env = append(os.Environ(), insideVar+"=1", hostVar+"="+program, ctxlsVar+"="+ctxls)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // Pdeathsig is about the thread
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// namespace returns the command that runs another one without a network: as root, or as a user that the system makes root of a
// namespace.
func namespace() ([]string, error) {
	var problems []string
	for _, way := range [][]string{{"unshare", "-n"}, {"unshare", "-rn"}} {
		out, err := exec.Command(way[0], append(way[1:], "true")...).CombinedOutput()
		if err == nil {
			return way, nil
		}
		problems = append(problems, fmt.Sprintf("%s: %s", strings.Join(way, " "), cmp.Or(strings.TrimSpace(string(out)), err.Error())))
	}
	return nil, fmt.Errorf("no network namespace can be had (%s). These tests run as root, or where the system lets users have "+
		"namespaces of their own: user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0", strings.Join(problems, "; "))
}

// install installs the pinned program and returns its path.
func (h Host) install() (string, error) {
	modules, err := npm.Install(h.Name, "host")
	if err != nil {
		return "", err
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	program := filepath.Join(modules, h.Program(cmp.Or(arch, runtime.GOARCH)))
	_, err = os.Stat(program)
	return program, err
}

// onlyLoopback makes sure that this is a namespace with nothing but loopback, and brings that up.
func onlyLoopback() error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return err
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback == 0 {
			return fmt.Errorf("there is a network: %s", i.Name)
		}
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	request := struct { // struct ifreq
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return fmt.Errorf("bringing up loopback: %w", errno)
	}
	return nil
}

// Node returns the Node that the host's package.json pins, for hosts that want a newer one than the machine may have.
func Node() string {
	modules, _, _ := strings.Cut(HostBin(), "node_modules")
	arch := cmp.Or(map[string]string{"amd64": "x64"}[runtime.GOARCH], runtime.GOARCH)
	return filepath.Join(modules, "node_modules", "node-linux-"+arch, "bin", "node")
}
