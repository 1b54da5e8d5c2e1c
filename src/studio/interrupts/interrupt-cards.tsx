/** The questions of a thread, each as a card that a person answers. */

import { useState } from 'react'

import type { Interrupt } from '../api/threads.ts'
import { Button } from '../parts/button.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { forgetDrafts } from './drafts.ts'
import css from './interrupts.module.css'
import { QuestionCard } from './question-card.tsx'
import { useUndo } from './use-undo.ts'

/** Questions of one thread. Several are answered together. */
export interface InterruptCardsProps {
  readonly threadId: string
  readonly interrupts: readonly Interrupt[]
  /**
   * Resumes the thread with `command.resume`: the answer of one question, or answers by id. It
   * rejects with ApiError; a refusal stands on the card.
   */
  readonly answer: (resume: unknown) => Promise<void>
  /** The reason why this caller may not answer. */
  readonly refusal?: string | undefined
}

type Answers = Readonly<Record<string, unknown>>

/** Cards of the questions of a thread. The answers are sent together. */
export function InterruptCards({ threadId, interrupts, answer, refusal }: InterruptCardsProps) {
  const [given, setGiven] = useState<Answers>({})
  const [phase, setPhase] = useState<'open' | 'sending' | 'sent'>('open')
  const [error, setError] = useState<unknown>()
  const ids = interrupts.map(({ id }) => id)
  // Answers to questions that are gone, answered elsewhere perhaps, are not sent.
  const current = Object.fromEntries(Object.entries(given).filter(([id]) => ids.includes(id)))
  const many = ids.length > 1
  const isSent = phase === 'sent' && ids.every((id) => id in current)

  const send = async (answers: Answers) => {
    setPhase('sending')
    setError(undefined)
    try {
      await answer(answers)
      for (const id of Object.keys(answers)) forgetDrafts(`${threadId} ${id}`)
      setPhase('sent')
    } catch (refused) {
      setError(refused)
      setPhase('open')
      if (!many) setGiven({})
    }
  }
  const later = useUndo<Answers>((answers) => void send(answers))
  const give = (id: string, value: unknown, canUndo = false) => {
    const next = { ...current, [id]: value }
    setGiven(next)
    setError(undefined)
    setPhase('open')
    if (!ids.every((each) => each in next)) return
    if (canUndo) later.begin(next)
    else void send(next)
  }
  const takeBack = (id: string) => {
    later.undo()
    setPhase('open')
    setGiven(Object.fromEntries(Object.entries(current).filter(([each]) => each !== id)))
  }
  const count = Object.keys(current).length
  return (
    <section className={css['cards']} aria-label={many ? 'Questions' : 'Question'}>
      {many && (
        <p className={css['lead']}>
          {ids.length} questions wait. They are answered together.
        </p>
      )}
      {interrupts.map((interrupt, i) => (
        <QuestionCard key={interrupt.id} interrupt={interrupt} refusal={refusal}
          draftKey={`${threadId} ${interrupt.id}`}
          hasKeys={i === ids.findIndex((id) => !(id in current))} phase={interrupt.id in current
          ? later.isDue ? 'due' : phase === 'open' ? 'given' : isSent ? 'sent' : 'sending'
          : 'open'} give={(value, canUndo) => give(interrupt.id, value, canUndo)}
          takeBack={() => takeBack(interrupt.id)} sendNow={later.now} />
      ))}
      {many && count > 0 && phase === 'open' && !later.isDue && (
        <div className={css['foot']} role="status">
          <span>{count} of {ids.length} answered.</span>
          <Button small onClick={() =>
            void send(current)}
          >
            {count === ids.length ? 'Send again' : 'Send now, the rest later'}
          </Button>
        </div>
      )}
      {error !== undefined && <ErrorNotice error={error} />}
    </section>
  )
}
