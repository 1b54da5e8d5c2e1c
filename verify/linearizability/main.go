// Checks that the logs of threads are linearizable, with porcupine.
//
// It reads one thread a line from the standard input: a JSON array of operations on its log, and
// prints the index of each line that is not linearizable. It exits with 1 if there is one.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is an append of a value, or a read of all values. Times are microseconds; an append
// whose response is unknown has no end.
type operation struct {
	Append *string  `json:"append"`
	Read   []string `json:"read"`
	Client int      `json:"client"`
	Start  int64    `json:"start"`
	End    *int64   `json:"end"`
}

// newModel returns the model of one log. A log only grows, so each state up to the longest read is a
// prefix of it, and a value of this read is appended at its place there. So the state is the number
// of values, and porcupine has few orders to try. Values that no read has come after the longest.
func newModel(ops []operation) porcupine.Model {
	var longest []string
	for _, op := range ops {
		if len(op.Read) > len(longest) {
			longest = op.Read
		}
	}
	place := map[string]int{}
	for i, value := range longest {
		place[value] = i
	}
	return porcupine.Model{
		Init: func() interface{} { return 0 },
		Step: func(state, input, _ interface{}) (bool, interface{}) {
			count, op := state.(int), input.(operation)
			if op.Append == nil {
				return count == len(op.Read) && isPrefix(op.Read, longest), count
			}
			at, isRead := place[*op.Append]
			return isRead && at == count || !isRead && count >= len(longest), count + 1
		},
	}
}

func isPrefix(values, longest []string) bool {
	for i, value := range values {
		if longest[i] != value {
			return false
		}
	}
	return true
}

// Time for one thread. A thread that takes longer is reported as unknown.
const timeout = 30 * time.Second

func toPorcupine(ops []operation) []porcupine.Operation {
	result := make([]porcupine.Operation, len(ops))
	for i, op := range ops {
		end := int64(math.MaxInt64)
		if op.End != nil {
			end = *op.End
		}
		result[i] = porcupine.Operation{ClientId: op.Client, Input: op, Call: op.Start, Return: end}
	}
	return result
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	broken := false
	for line := 0; lines.Scan(); line++ {
		var ops []operation
		if err := json.Unmarshal(lines.Bytes(), &ops); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		switch porcupine.CheckOperationsTimeout(newModel(ops), toPorcupine(ops), timeout) {
		case porcupine.Illegal:
			fmt.Println(line)
			broken = true
		case porcupine.Unknown:
			fmt.Fprintf(os.Stderr, "Line %d: not decided in %s.\n", line, timeout)
		}
	}
	if broken {
		os.Exit(1)
	}
}
