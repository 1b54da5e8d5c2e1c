/** The rows of a list of traces that are chosen, and the action that people are asked about. */

import { useCallback, useRef, useState } from 'react'

import type { TraceQuestion, TraceRow } from '../../api/platform/traces.ts'
import { toggled, withRange } from '../../rows/choice.ts'
import type { Choice } from '../../rows/choice.ts'
import { pairOf } from './compared-pair.ts'
import type { BenchAct, BenchRequest } from './work-dialog.tsx'

/** Nouns for a row. */
const nouns = { traces: 'trace', runs: 'run', calls: 'model call' } as const

/** The choice among the rows of a question, and the action on them that is asked about. */
export function useBench(question: TraceQuestion, rows: readonly TraceRow[] | undefined) {
  const [choice, choose] = useState<Choice>()
  const [request, setRequest] = useState<BenchRequest>()
  const lastAt = useRef<number>(undefined)
  // Rows that were drawn before something was chosen must not forget it.
  const now = useRef({ choice, rows })
  now.current = { choice, rows }
  const toggle = useCallback((index: number, isRange: boolean) => {
    const row = now.current.rows?.[index]
    if (row === undefined) return
    const from = lastAt.current
    choose((before) =>
      isRange && from !== undefined
        ? withRange(before, now.current.rows!.map(({ id }) => id), from, index)
        : toggled(before, row.id)
    )
    lastAt.current = index
  }, [])
  const noun = nouns[question.rows ?? 'traces']
  return {
    choice,
    choose,
    toggle,
    noun,
    /** Only whole traces are deleted, compared and tagged. */
    areTraces: question.rows === undefined,
    /** The two chosen traces that may be compared, the earlier first. */
    pair: pairOf(choice, rows),
    projectId: question.projectId,
    toggleAll: useCallback(() => choose((before) => before === 'all' ? undefined : 'all'), []),
    request,
    ask: (act: BenchAct) => {
      if (choice === undefined) return
      setRequest({ act, projectId: question.projectId, noun, target: choice === 'all'
        ? { kind: 'matching', question }
        : { kind: 'chosen', ids: [...choice] } })
    },
    close: (changed: boolean) => {
      setRequest(undefined)
      if (changed) choose(undefined)
    },
  }
}
