package file_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/phero-agent/agent/tools/file"
)

// A dialog shows what a call would do; a journal takes it back.
func Example() {
	repo, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(repo)
	path := filepath.Join(repo, "greet.txt")
	if err := os.WriteFile(path, []byte("hello\n"), 0o644); err != nil {
		panic(err)
	}

	journal := []file.Change{}
	opts := []file.Option{
		file.WithWorkingDirectory(repo),
		file.WithOnWrite(func(_ context.Context, c file.Change) { journal = append(journal, c) }),
	}
	editTool, err := file.NewEditTool(opts...)
	if err != nil {
		panic(err)
	}
	arguments := `{"file_path":"greet.txt","old_string":"hello","new_string":"good day"}`

	// In the permission Asker, before the call runs:
	var in file.EditInput
	if err := json.Unmarshal([]byte(arguments), &in); err == nil {
		if change, err := editTool.Preview(&in); err == nil {
			for _, h := range file.Hunks(change.Before, change.After, 3) {
				for _, line := range h.Lines {
					fmt.Println(line)
				}
			}
		}
	}
	if _, err := editTool.Tool().Handle(context.Background(), arguments); err != nil {
		panic(err)
	}

	// Undo the last change:
	last := journal[len(journal)-1]
	if last.Existed {
		err = file.WriteFileAtomic(last.Path, last.Before, last.Perm)
	} else {
		err = os.Remove(last.Path)
	}
	text, _ := os.ReadFile(path)
	fmt.Printf("%s%v", text, err)
	// Output:
	// -hello
	// +good day
	// hello
	// <nil>
}
