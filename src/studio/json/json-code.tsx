/** The editor of JSON: with colours, brackets, folding, and what is wrong beside its line. */

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput,
  syntaxTree } from '@codemirror/language'
import { lintGutter, linter } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers,
  ViewPlugin } from '@codemirror/view'
import type { DecorationSet, ViewUpdate } from '@codemirror/view'
import { useEffect, useRef } from 'react'

import css from './json-editor.module.css'

/** Text in the editor, its label, and the callback of changes. */
export interface JsonCodeProps {
  readonly label: string
  readonly text: string
  readonly change: (text: string) => void
}

const marks: Readonly<Record<string, Decoration>> = {
  PropertyName: Decoration.mark({ class: 'name' }),
  Number: Decoration.mark({ class: 'number' }),
  True: Decoration.mark({ class: 'constant' }),
  False: Decoration.mark({ class: 'constant' }),
  Null: Decoration.mark({ class: 'constant' }),
}

/** Colours of what is seen. */
const colours = ViewPlugin.fromClass(class {
  decorations: DecorationSet

  constructor(view: EditorView) {
    this.decorations = marksIn(view)
  }

  update({ docChanged, viewportChanged, view, startState, state }: ViewUpdate): void {
    if (docChanged || viewportChanged || syntaxTree(startState) !== syntaxTree(state)) {
      this.decorations = marksIn(view)
    }
  }
}, { decorations: ({ decorations }) => decorations })

function marksIn(view: EditorView): DecorationSet {
  const found = view.visibleRanges.flatMap(({ from, to }) => {
    const inRange: ReturnType<Decoration['range']>[] = []
    syntaxTree(view.state).iterate({ from, to, enter: (node) => {
      const mark = marks[node.name]
      if (mark !== undefined) inRange.push(mark.range(node.from, node.to))
    } })
    return inRange
  })
  return Decoration.set(found, true)
}

const look = EditorView.theme({
  '.name': { color: 'var(--indigo)' },
  '.number': { color: 'var(--teal)' },
  '.constant': { color: 'var(--weld)' },
  '&': { height: '100%', maxHeight: 'inherit', color: 'var(--ink)', fontSize: '12px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '18px', overflow: 'auto' },
  '.cm-content': { padding: '6px 0', caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--ink-3)',
    borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--indigo-wash) !important',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--woad-wash) !important' },
  '.cm-foldPlaceholder': { background: 'var(--sunken)', border: '0', color: 'var(--ink-2)' },
  '.cm-tooltip': { background: 'var(--raised)', border: '1px solid var(--line)',
    color: 'var(--ink)' },
  '.cm-lintRange-error': { backgroundImage: 'none',
    textDecoration: 'underline wavy var(--madder)' },
})

/**
 * The editor. It lives in a shadow root: there its styles are sheets of the root, which the content
 * security policy of the page has nothing against.
 */
export function JsonCode({ label, text, change }: JsonCodeProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const latest = useRef(change)
  latest.current = change
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
    const editor = new EditorView({ parent: root, root,
      state: EditorState.create({ doc: text, extensions: [
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        codeFolding(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        json(),
        linter(jsonParseLinter(), { delay: 300 }),
        colours,
        look,
        EditorView.lineWrapping,
        keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latest.current(update.state.doc.toString())
        }),
      ] }) })
    view.current = editor
    return () => {
      editor.destroy()
      view.current = null
    }
  }, [])
  useEffect(() => {
    const editor = view.current
    if (editor === null || editor.state.doc.toString() === text) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } })
  }, [text])
  // Keys of the page rest while somebody types; the target that the page sees is only the host.
  return <div ref={host} className={css['code']} onKeyDown={(event) => event.stopPropagation()} />
}
