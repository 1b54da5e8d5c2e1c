/** The questions of one thread in the inbox, with what was said last. */

import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

import { useRefusal } from '../api/refusal.ts'
import { textOf } from '../api/content.ts'
import { titleOf } from '../api/thread-names.ts'
import { questionsOf } from '../api/threads.ts'
import type { Thread } from '../api/threads.ts'
import { InterruptCards } from '../interrupts/interrupt-cards.tsx'
import { Button, buttonClass } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { resumeThread } from './answer.ts'
import css from './inbox.module.css'
import { onlyReads } from './thread-words.ts'

const saidMax = 600

/** The pane; `back` leads to the list where there is room for one of them only. */
export function InboxPane({ thread, answered, back }: {
  readonly thread: Thread
  /** `isHere`: the pane is still shown, as an answer is sent a while after it was given. */
  readonly answered: (isHere: boolean) => void
  readonly back: (() => void) | undefined
}) {
  const refusal = useRefusal(onlyReads)
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  const said = textOf(thread.extracted?.['last'])
  const answer = async (resume: unknown) => {
    await resumeThread(thread, resume)
    answered(isHere.current)
  }
  return (
    <>
      <div className={css['head']}>
        {back && (
          <Button kind="quiet" label="To the list" className={css['back']} onClick={back}
            icon={<Icon name="back" />} />
        )}
        <h2 dir="auto">{titleOf(thread)}</h2>
        <Link to="/threads/$id" params={{ id: thread.thread_id }} search={{}}
          className={buttonClass('plain', true)}
        >
          Open the thread
        </Link>
      </div>
      {said !== '' && (
        <div className={css['said']}>
          <Markdown text={said.length > saidMax ? `${said.slice(0, saidMax)} …` : said} />
        </div>
      )}
      <InterruptCards threadId={thread.thread_id} interrupts={questionsOf(thread)} answer={answer}
        refusal={refusal} />
    </>
  )
}
