/** One question: what is asked, and the controls that answer it. */

import { useId } from 'react'
import type { ReactNode } from 'react'

import type { Interrupt } from '../api/threads.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { Markdown, Phrase } from '../parts/markdown.tsx'
import { StatusGlyph } from '../parts/status.tsx'
import type { AnswerProps } from './answer-props.ts'
import { ChoiceAnswer } from './choice-answer.tsx'
import { EffectAnswer } from './effect-answer.tsx'
import { FormAnswer } from './form-answer.tsx'
import css from './interrupts.module.css'
import { OpenAnswer } from './open-answer.tsx'
import { isShort, questionOf } from './question.ts'
import type { Question } from './question.ts'
import { ReviewAnswer } from './review-answer.tsx'
import { undoSeconds } from './use-undo.ts'

/** Progress of a question: open, its answer given, to be sent soon, on its way, or taken. */
export type CardPhase = 'open' | 'given' | 'due' | 'sending' | 'sent'

/** Card of one question, by the way it is answered. */
export function QuestionCard(
  { interrupt: { value, response_schema: schema }, phase, takeBack, sendNow, ...answer }:
    & AnswerProps
    & {
      readonly interrupt: Interrupt
      readonly phase: CardPhase
      readonly takeBack: () => void
      readonly sendNow: () => void
    },
) {
  const id = useId()
  const question = questionOf(value, schema)
  return (
    <article className={css['card']} aria-labelledby={id}>
      <header>
        <StatusGlyph status={phase === 'open' ? 'waiting' : phase === 'sent' ? 'done' : 'queued'} />
        <Title id={id} question={question} />
      </header>
      {'shown' in question && question.shown !== undefined && (
        <JsonTree value={question.shown} name="What it shows" height={12}
          open={isShort(question.shown) ? 2 : 1} />
      )}
      {phase === 'open'
        ? (
          <fieldset className={css['answer']} disabled={answer.refusal !== undefined}
            title={answer.refusal}
          >
            <legend className="unseen">Answer</legend>
            <Answer question={question} {...answer} />
            {answer.refusal !== undefined && <p className={css['refusal']}>{answer.refusal}</p>}
          </fieldset>
        )
        : <Given phase={phase} takeBack={takeBack} sendNow={sendNow} />}
    </article>
  )
}

function Title({ id, question }: { readonly id: string; readonly question: Question }) {
  const words = question.kind === 'review'
    ? question.acts.length === 1
      ? question.acts[0]!.words ?? `Run ${question.acts[0]!.name}?`
      : `${question.acts.length} acts wait for a decision`
    : question.title ?? 'The graph waits for an answer'
  const isPlain = !/\n/.test(words) && words.length <= 200
  return isPlain
    ? (
      <h2 id={id} dir="auto">
        <Phrase text={words} />
      </h2>
    )
    : (
      <div className={css['long']} dir="auto">
        <h2 id={id} className="unseen">{words.slice(0, 80)}</h2>
        <Markdown text={words} />
      </div>
    )
}

function Answer({ question, ...props }: AnswerProps & { readonly question: Question }): ReactNode {
  switch (question.kind) {
    case 'review':
      return <ReviewAnswer {...props} {...question} />
    case 'form':
      return <FormAnswer {...props} {...question} />
    case 'choice':
      return <ChoiceAnswer {...props} choices={question.choices} />
    case 'effect':
      return <EffectAnswer {...props} {...question} />
    case 'open':
      return <OpenAnswer {...props} />
  }
}

const phaseWords = {
  given: 'Answered. It is sent with the others.',
  due: `Answered. It is sent in ${undoSeconds} seconds.`,
  sending: 'Sending the answer.',
  sent: 'Answered. The run goes on.',
} as const

function Given({ phase, takeBack, sendNow }: {
  readonly phase: Exclude<CardPhase, 'open'>
  readonly takeBack: () => void
  readonly sendNow: () => void
}) {
  return (
    <div className={css['foot']} role="status">
      <Icon name="check" size={14} />
      <span>{phaseWords[phase]}</span>
      {phase !== 'sending' && (
        // The button that decided is gone: the focus is not lost with it.
        <Button kind="quiet" small autoFocus={phase === 'due'} onClick={takeBack}>
          {phase === 'due' ? 'Undo' : phase === 'given' ? 'Change' : 'Answer again'}
        </Button>
      )}
      {phase === 'due' && <Button kind="quiet" small onClick={sendNow}>Send now</Button>}
    </div>
  )
}
