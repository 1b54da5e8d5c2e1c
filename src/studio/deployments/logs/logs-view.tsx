/** Lines that the code of a deployment wrote, of all members in order of time. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'

import { Button } from '../../parts/button.tsx'
import { count, counted } from '../../parts/amounts.ts'
import { Empty } from '../../parts/empty.tsx'
import { Select } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ErrorNotice, Notice } from '../../parts/notice.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { useKeys } from '../../parts/keys.ts'
import { logLevels } from '../../addresses/deployments.ts'
import type { DeploymentSearch } from '../../addresses/deployments.ts'
import { revisionList } from '../../api/control/control.ts'
import type { Deployment } from '../../api/control/deployment.ts'
import { nowMs } from '../../env.ts'
import { linesMax } from './log-lines.ts'
import { LogList } from './log-list.tsx'
import { requestOf } from './log-request.ts'
import type { LogConditions } from './log-request.ts'
import { LogSearch } from './log-search.tsx'
import css from './logs.module.css'
import { useLogs } from './use-logs.ts'

const levelWords: Readonly<Record<typeof logLevels[number], string>> = { debug: 'All levels',
  info: 'Info and above', warn: 'Warnings and errors', error: 'Errors' }

/** Log of a deployment, with filters by level and revision. */
export function LogsView({ deployment: { name } }: { readonly deployment: Deployment }) {
  const search = useSearch({ from: '/deployments/$name' })
  const navigate = useNavigate()
  const { data } = useInfiniteQuery(revisionList(name))
  const [isHeld, setHeld] = useState(false)
  const { level, revision } = search
  const request = useMemo(() => requestOf(search, nowMs()), [search])
  const show = (change: Partial<DeploymentSearch>) => {
    setHeld(false)
    void navigate({ to: '/deployments/$name', params: { name }, replace: true,
      search: { ...search, ...change } })
  }
  const names = data?.pages.flat().map((each) => each.name) ?? []
  const choices = revision === undefined || names.includes(revision) ? names : [revision, ...names]
  useKeys('Logs', { f: { words: isHeld ? 'Follow' : 'Pause', act: () => setHeld(!isHeld) } })
  return (
    <div className={css['view']}>
      <div className={css['bar']}>
        <Select aria-label="Levels" value={level ?? 'debug'} onChange={({ target }) =>
          show({ level: target.value === 'debug'
            ? undefined
            : logLevels.find((each) => each === target.value) })}
        >
          {logLevels.map((each) => <option key={each} value={each}>{levelWords[each]}</option>)}
        </Select>
        <Select aria-label="Revision" value={revision ?? ''} onChange={({ target }) =>
          show({ revision: target.value || undefined })}
        >
          <option value="">All revisions</option>
          {choices.map((each) => <option key={each} value={each}>{each}</option>)}
        </Select>
        <LogSearch search={search} change={show} />
        {!isPast(request) && (
          <Button small aria-pressed={!isHeld}
            aria-label={isHeld ? 'Follow the log' : 'Pause the log'}
            icon={<Icon name={isHeld ? 'play' : 'pause'} size={14} />} onClick={() =>
            setHeld(!isHeld)}
          >
            {isHeld ? 'Follow' : 'Pause'}
          </Button>
        )}
      </div>
      <Lines key={JSON.stringify(request)} name={name} request={request} isHeld={isHeld} hold={() =>
        setHeld(true)} />
    </div>
  )
}

function Lines({ name, request, isHeld, hold }: {
  readonly name: string
  readonly request: LogConditions
  readonly isHeld: boolean
  readonly hold: () => void
}) {
  const { state, isOpen, error, away } = useLogs(name, request, isHeld)
  const { lines, dropped } = state
  return (
    <>
      {error !== undefined && (
        <div className={css['notice']}>
          <ErrorNotice error={error} />
        </div>
      )}
      {away !== undefined && (
        <div className={css['notice']}>
          <Notice tone="waiting">The connection is lost. It is tried again.</Notice>
        </div>
      )}
      {lines.length > 0
        ? <LogList name={name} state={state} isHeld={isHeld} hold={hold} />
        : isOpen
        ? (
          <Empty title={isNarrowed(request) ? 'No line matches' : 'No lines'}>
            <p>
              {isNarrowed(request)
                ? 'Another text or time may have some.'
                : 'What the code writes to the console stands here while it runs.'}{' '}
              Members keep their last 5,000 lines.
            </p>
          </Empty>
        )
        : error === undefined && (
          <div className={css['notice']}>
            <Skeleton width="100%" height={120} />
          </div>
        )}
      <p className={css['foot']}>
        {!isPast(request) && (isHeld ? 'Paused, ' : 'Follows, ')}
        {counted(lines.length, 'line')}
        {dropped > 0 && `; the newest ${count(linesMax)} are kept`}
      </p>
    </>
  )
}

/** True if no further line can come. */
const isPast = ({ until }: LogConditions): boolean =>
  until !== undefined && Date.parse(until) < nowMs()

const isNarrowed = ({ q, since, until, level, revision }: LogConditions): boolean =>
  [q, since, until, level, revision].some((each) => each !== undefined)
