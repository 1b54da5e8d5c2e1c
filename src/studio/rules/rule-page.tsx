/** A rule: what it has done, run by run. */

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useRef, useState } from 'react'

import type { RuleLine } from '../../api/index.ts'
import { linesAtOnce, ruleLines, ruleQuery, ruleState } from './rule-calls.ts'
import { whoAmI } from '../api/server.ts'
import { pollEvery } from '../api/poll.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { RowGrid } from '../rows/row-grid.tsx'
import { useRowKeys } from '../rows/row-keys.ts'
import type { RowRange } from '../rows/row-grid.tsx'
import { outcomes } from '../addresses/rules.ts'
import { LineRow } from './line-row.tsx'
import { LinePeek } from './line-peek.tsx'
import { RuleFacts } from './rule-facts.tsx'
import { RuleSwitch } from './rule-switch.tsx'
import css from './rules.module.css'

const TriggerDialog = lazy(async () => ({
  default: (await import('./trigger-dialog.tsx')).TriggerDialog,
}))

const words: Readonly<Record<typeof outcomes[number], string>> = { done: 'Done', failed: 'Failed',
  skipped: 'Left out', alert: 'Alerts' }
const rowHeight = 44

/** Page of one rule: its numbers and its log. */
export function RulePage() {
  const { id } = useParams({ from: '/rules/$id' })
  const rule = useQuery(ruleQuery(id))
  const { data: state } = useQuery(ruleState(id))
  const { data: caller } = useQuery(whoAmI)
  const [isTriggering, setTriggering] = useState(false)
  const isReader = caller?.role === 'reader'
  if (rule.error !== null && rule.data === undefined) {
    return (
      <div className={css['notice']}>
        <ErrorNotice error={rule.error} retry={() => void rule.refetch()} />
        <Link to="/rules" search={{}}>All rules</Link>
      </div>
    )
  }
  const { data } = rule
  return (
    <>
      <PageHead title={data?.display_name ?? 'Rule'}
        aside={<Link to="/rules" search={{}}>All rules</Link>}
      >
        {data && (
          <div className={css['pageActs']}>
            <RuleSwitch rule={data} isReader={isReader} />
            <Link to="/rules" search={{ edit: id }} className={buttonClass('quiet', true)}>
              Edit
            </Link>
            <Button small icon={<Icon name="play" size={14} />}
              disabled={isReader || !data.is_enabled} title={isReader
              ? 'Your key may only read.'
              : data.is_enabled
              ? undefined
              : 'The rule is off.'} onClick={() => setTriggering(true)}
            >
              Go over the past
            </Button>
          </div>
        )}
        {state && <RuleFacts state={state} />}
      </PageHead>
      <Log id={id} />
      <Suspense>
        {isTriggering && data && <TriggerDialog rule={data} close={() => setTriggering(false)} />}
      </Suspense>
    </>
  )
}

function Log({ id }: { readonly id: string }) {
  const search = useSearch({ from: '/rules/$id' })
  const navigate = useNavigate()
  const query = useInfiniteQuery({
    queryKey: ['rules', id, 'lines'],
    queryFn: ({ pageParam, signal }) => ruleLines(id, pageParam, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => (page.length < linesAtOnce ? undefined : page.at(-1)?.id),
    refetchInterval: pollEvery(5_000),
  })
  const all = query.data?.pages.flat()
  const lines = all?.filter(({ outcome }) =>
    search.outcome === undefined || outcome === search.outcome
  )
  const show = (change: Partial<typeof search>) =>
    void navigate({ to: '/rules/$id', params: { id }, search: { ...search, ...change },
      replace: true })
  const peeked = all?.find((line) => String(line.id) === search.line)
  return (
    <div className={css['log']}>
      <div className={css['logHead']}>
        <Select aria-label="Which lines" value={search.outcome ?? ''} onChange={({ target }) =>
          show({ outcome: outcomes.find((each) => each === target.value), line: undefined })}
        >
          <option value="">All lines</option>
          {outcomes.map((each) => <option key={each} value={each}>{words[each]}</option>)}
        </Select>
        <small>The newest 1,000 lines are kept.</small>
      </div>
      {query.error !== null && all === undefined
        ? (
          <div className={css['notice']}>
            <ErrorNotice error={query.error} retry={() => void query.refetch()} />
          </div>
        )
        : lines === undefined
        ? (
          <div className={css['notice']}>
            <Skeleton width="100%" height={120} />
          </div>
        )
        : lines.length === 0
        ? (
          <Empty title={search.outcome === undefined ? 'Nothing yet' : 'No such line'}>
            <p>Each run that the rule is about leaves a line here.</p>
          </Empty>
        )
        : (
          <div className={css['columns']}>
            <Lines id={id} lines={lines}
              more={() => void (query.hasNextPage && !query.isFetching && query.fetchNextPage())}
              isWhole={!query.hasNextPage} shown={search.line}
              open={(line) => show({ line: String(line.id) })} />
            {peeked && <LinePeek line={peeked} close={() => show({ line: undefined })} />}
          </div>
        )}
    </div>
  )
}

function Lines({ id, lines, more, isWhole, shown, open }: {
  readonly id: string
  readonly lines: readonly RuleLine[]
  readonly more: () => void
  readonly isWhole: boolean
  readonly shown: string | undefined
  readonly open: (line: RuleLine) => void
}) {
  const box = useRef<HTMLDivElement>(null)
  const chosen = lines.findIndex((line) => String(line.id) === shown)
  const [active, setActive] = useState(Math.max(0, chosen))
  const seen = useCallback(({ last }: RowRange) => {
    if (last >= lines.length - 20) more()
  }, [lines.length, more])
  useRowKeys({ title: 'Log', noun: 'line', count: lines.length, active, activate: setActive, box })
  return (
    <RowGrid label="Log of the rule" name="line" total={lines.length} isWhole={isWhole}
      rowHeight={rowHeight} active={active} activate={setActive} box={box} place={`rule ${id}`}
      seen={seen} open={(index) => lines[index] && open(lines[index])}
      row={(index) => <LineRow line={lines[index]} open={open} />} />
  )
}
