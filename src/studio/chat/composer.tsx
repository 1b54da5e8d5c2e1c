/** Composer of a message: Enter sends, Shift with Enter breaks the line. */

import { lazy, memo, Suspense, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'

import type { Multitask } from '../api/runs.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { useTypedInto } from '../parts/keys.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import css from './composer.module.css'
import { draftOf, keepDraft } from './draft.ts'

/** Loads the choice of what happens to a message now. */
export const loadStrategy = () => import('./strategy.tsx')
const Strategy = lazy(async () => ({ default: (await loadStrategy()).Strategy }))

/** Thread that a composer writes to, and its callbacks. */
export interface ComposerProps {
  readonly threadId: string
  readonly isBusy: boolean
  /** Placeholder of the empty field. */
  readonly hint: string
  readonly refusal: string | undefined
  /** Rejects with ApiError; then the words stay. */
  readonly send: (text: string, strategy: Multitask | undefined) => Promise<unknown>
  readonly stop: () => void
  readonly openSettings: () => void
  readonly hasSettings: boolean
  /** Called when somebody writes. */
  readonly writing: () => void
  /** True once: the page was just opened, and the field gets the focus. */
  readonly takeOpening: () => boolean
  /** Content above the field: the queue. */
  readonly children?: ReactNode
}

/** The composer. A token never renders it. */
export const Composer = memo(function Composer(props: ComposerProps) {
  const { threadId, isBusy, hint, refusal, send, stop, openSettings, hasSettings, writing,
    takeOpening, children } = props
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(() => draftOf(threadId))
  const [strategy, setStrategy] = useState<Multitask>('enqueue')
  const [error, setError] = useState<unknown>()
  useGrowth(field, text)
  useTypedInto(field)
  useFocusAtOpening(field, takeOpening)
  const write = (words: string) => {
    setText(words)
    keepDraft(threadId, words)
  }
  const submit = () => {
    const words = text.trim()
    if (words === '' || refusal !== undefined) return
    write('')
    setError(undefined)
    send(words, isBusy ? strategy : undefined).catch((reason: unknown) => {
      setError(reason)
      write(words)
    })
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  return (
    <form className={css['composer']} onSubmit={(event) => {
      event.preventDefault()
      submit()
    }}>
      {children}
      {error !== undefined && <ErrorNotice error={error} retry={submit} />}
      <div className={css['box']}>
        <label className="unseen" htmlFor={id}>Message</label>
        <textarea id={id} ref={field} rows={1} dir="auto" value={text} placeholder={hint}
          title={refusal} disabled={refusal !== undefined} onKeyDown={onKey}
          onChange={({ target }) => {
            writing()
            write(target.value)
          }} />
        <div className={css['acts']}>
          {isBusy && (
            <Suspense>
              <Strategy chosen={strategy} choose={setStrategy} />
            </Suspense>
          )}
          {isBusy && (
            <Button small icon={<Icon name="stop" size={14} />} onClick={stop}
              disabled={refusal !== undefined}
            >
              Stop
            </Button>
          )}
          <Button kind="quiet" icon={<Icon name="assistants" />} onClick={openSettings}
            className={hasSettings ? css['set'] ?? '' : ''}
            label={hasSettings ? 'Run settings (changed)' : 'Run settings'} />
          <Button type="submit" kind="primary" icon={<Icon name="send" />} label="Send"
            disabled={text.trim() === '' || refusal !== undefined} />
        </div>
      </div>
    </form>
  )
})

/** A keyboard on the glass would hide what was opened: there nobody is pushed to write. */
const hasKeyboard = () => matchMedia('(pointer: fine)').matches

/** The field has the focus when the page was opened, unless a person is somewhere already. */
function useFocusAtOpening(field: React.RefObject<HTMLTextAreaElement | null>,
  takeOpening: () => boolean): void {
  useEffect(() => {
    const { activeElement: at } = document
    const isFree = at === null || at === document.body || at.id === 'main'
    if (takeOpening() && isFree && hasKeyboard()) field.current?.focus({ preventScroll: true })
  }, [field, takeOpening])
}

const linesMax = 8
const lineHeight = 20

/** Grows with its text up to eight lines. */
function useGrowth(field: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    const area = field.current
    if (area === null) return
    area.style.height = 'auto'
    area.style.height = `${Math.min(area.scrollHeight, linesMax * lineHeight + 10)}px`
  }, [field, text])
}
