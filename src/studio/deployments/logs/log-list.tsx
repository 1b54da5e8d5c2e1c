/** Lines of a log: the newest at the end, where the list stays while it follows. */

import { useEffect, useRef, useState } from 'react'
import type { UIEvent } from 'react'

import { studioOf } from '../../api/place.ts'
import { buttonClass } from '../../parts/button.tsx'
import { clockWords, exactWords } from '../../parts/times/moment.ts'
import { RowGrid } from '../../rows/row-grid.tsx'
import { useRowKeys } from '../../rows/row-keys.ts'
import type { LogLine } from '../../api/control/deployment.ts'
import { JsonText } from '../parts/json-text.tsx'
import type { LogState } from './log-lines.ts'
import css from './logs.module.css'

const rowHeight = 26

/** The list. Whoever goes up in it holds it still. */
export function LogList({ name, state: { lines, dropped }, isHeld, hold }: {
  readonly name: string
  readonly state: LogState
  readonly isHeld: boolean
  readonly hold: () => void
}) {
  const last = lines.length - 1
  const [chosen, setChosen] = useState(last)
  const [opened, setOpened] = useState<LogLine>()
  const box = useRef<HTMLDivElement>(null)
  const top = useRef(0)
  const active = isHeld ? Math.min(chosen, last) : last
  const activate = (index: number) => {
    setChosen(index)
    if (index < last) hold()
  }
  // The list stands at its end from its first line on, and where lines push others out of it.
  useEffect(() => {
    if (!isHeld && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [isHeld, last, dropped])
  const onScroll = ({ target }: UIEvent) => {
    const list = box.current
    if (target !== list || list === null) return
    const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - rowHeight
    if (!isHeld && list.scrollTop < top.current - 2 && !isAtEnd) {
      setChosen(last)
      hold()
    }
    top.current = list.scrollTop
  }
  useRowKeys({ title: 'Logs', noun: 'line', count: lines.length, active, activate, box })
  return (
    <div className={css['columns']} onScrollCapture={onScroll}>
      <RowGrid label="Lines of the log" name="line" total={lines.length} rowHeight={rowHeight}
        active={active} activate={activate} box={box} place={`log ${name}`} seen={seenNothing}
        open={(index) => setOpened(lines[index])}
        row={(index) => (
          <LineRow line={lines[index]!} open={() => {
            activate(index)
            setOpened(lines[index])
          }} />
        )} />
      {opened && <Whole name={name} line={opened} close={() => setOpened(undefined)} />}
    </div>
  )
}

const seenNothing = () => {}

function LineRow({ line: { at, level, revision, text }, open }: {
  readonly line: LogLine
  readonly open: () => void
}) {
  return (
    <div className={`${css['line']} ${css[level]}`} onClick={open}>
      <time role="gridcell" dateTime={at} title={exactWords(Date.parse(at))}>
        {clockWords(Date.parse(at), 3)}
      </time>
      <span role="gridcell" className={css['level']}>{level}</span>
      <span role="gridcell" className={css['revision']}>{revision}</span>
      <span role="gridcell" className={css['text']} dir="auto">{text}</span>
    </div>
  )
}

function Whole({ name, line, close }: {
  readonly name: string
  readonly line: LogLine
  readonly close: () => void
}) {
  const { text, thread_id: thread, run_id: run, ...fields } = line
  return (
    <JsonText title="Line of the log" close={close}
      value={{ ...fields, ...thread !== null && { thread_id: thread },
        ...run !== null && { run_id: run } }}
    >
      <pre className={css['whole']} dir="auto" tabIndex={0} aria-label="Text">{text}</pre>
      {thread !== null && (
        <a className={buttonClass('plain', true)} href={`${studioOf(name).href}threads/${thread}`}>
          Open the thread
        </a>
      )}
    </JsonText>
  )
}
