// Package session keeps what was said and what was changed, in an append-only
// log below .phero/, from which a session is resumed and every change can be undone.
//
//	Store ──Create, Open──► Log ◄──Append── app, Journal
//	                         │ one line, one write(2), a checksum each
//	                         ▼
//	              sessions/<id>/log.jsonl ──readLog──► entries, notices
//	                                                     │         │
//	app ◄──messages for the model── History ◄────────────┤         └─► the person
//	                                                     ▼
//	file tools ──Intent, Done──► Journal ◄────────────── Load
//	                               │ Undo, Redo
//	                               ▼
//	              blobs/<aa>/<hash>: contents before and after each change
//
// The log is the only truth. A title, a count of messages or the state of the
// journal is folded from it, and nothing derived can keep a session from opening.
// What is damaged is named and left where it is; nothing is ever deleted.
package session
