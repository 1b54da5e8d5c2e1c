/** The head of a thread: what it is called, how it stands, who answers, and what may be done. */

import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'

import type { Assistant } from '../../api/index.ts'
import { copyThread } from '../api/threads.ts'
import type { ThreadUsage } from '../api/platform/thread-usage.ts'
import type { Thread } from '../api/threads.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { StatusChip } from '../parts/status.tsx'
import type { Status } from '../parts/status.tsx'
import { nameOf } from './screen/use-assistant.ts'
import css from './thread-head.module.css'

const UsageLine = lazy(async () => ({
  default: (await import('../parts/usage/usage-line.tsx')).UsageLine,
}))
const loadMenu = () => import('./thread-menu.tsx')
const ThreadMenu = lazy(async () => ({ default: (await loadMenu()).ThreadMenu }))

/** Thread, status and assistants in the head, and its callbacks. */
export interface ThreadHeadProps {
  readonly thread: Thread
  readonly title: string
  readonly status: Status
  /** Undefined until it is known, and for a thread without runs. */
  readonly usage: ThreadUsage | undefined
  readonly assistants: readonly Assistant[]
  readonly chosen: string
  readonly choose: (assistantId: string) => void
  /** Shows another thread; undefined for the list. */
  readonly leave: (threadId: string | undefined) => void
  readonly refusal: string | undefined
  readonly failed: (error: unknown) => void
}

/** Head of the page of a thread: its title, its status, its assistant and its menu. */
export function ThreadHead(props: ThreadHeadProps) {
  const { thread, title, status, usage, assistants, chosen, choose, leave, refusal, failed } = props
  const { thread_id: id } = thread
  const [copying, setCopying] = useState(false)
  const [isMenuWanted, wantMenu] = useState(false)
  const copy = () => {
    setCopying(true)
    copyThread(id).then((made) => leave(made.thread_id), failed).finally(() => setCopying(false))
  }
  return (
    <header className={css['head']}>
      <Link to="/threads" search={{}} aria-label="All threads" title="All threads"
        className={buttonClass('quiet', false, true)}
      >
        <Icon name="back" />
      </Link>
      <div className={css['title']}>
        <h1 dir="auto" title={title}>{title}</h1>
        <span className={css['id']}>
          <code title={id}>{id.slice(0, 8)}…{id.slice(-6)}</code>
          <CopyButton text={id} label="Copy the id" />
        </span>
      </div>
      {usage !== undefined && usage.runs.length > 0 && (
        <Suspense>
          <span className={css['sum']} role="group" aria-label="The whole thread">
            <UsageLine usage={usage.total} isPartial={usage.is_partial} />
          </span>
        </Suspense>
      )}
      <StatusChip status={status} />
      <Select className={css['who'] ?? ''} aria-label="Assistant" value={chosen}
        onChange={({ target }) => choose(target.value)}
      >
        {assistants.map((each) => (
          <option key={each.assistant_id} value={each.assistant_id}>{nameOf(each)}</option>
        ))}
      </Select>
      <Button className={css['wide'] ?? ''} icon={<Icon name="fork" />} onClick={copy}
        disabled={copying || refusal !== undefined} title={refusal ?? 'Copy the thread'}
      >
        Copy
      </Button>
      {isMenuWanted
        ? (
          <Suspense fallback={<More />}>
            <ThreadMenu thread={thread} title={title} refusal={refusal} copy={copy}
              deleted={() => leave(undefined)} failed={failed} />
          </Suspense>
        )
        : <More press={() => wantMenu(true)} />}
    </header>
  )
}

/** Button of the menu, whose large parts load when somebody comes near it. */
function More({ press }: { readonly press?: () => void }) {
  return (
    <Button kind="quiet" icon={<Icon name="more" />} label="More acts" aria-haspopup="menu"
      onClick={press} onPointerEnter={() => void loadMenu()} onFocus={() => void loadMenu()} />
  )
}
