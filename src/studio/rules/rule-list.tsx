/** The rules: what each is about, whether it is on, and what it has done. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'

import type { Rule } from '../../api/index.ts'
import { ruleList } from './rule-calls.ts'
import { useRefusal } from '../api/refusal.ts'
import { count } from '../parts/amounts.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { Empty } from '../parts/empty.tsx'
import { cellClass, Table } from '../parts/table.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import { ListBody } from '../rows/list-body.tsx'
import { ListPage } from '../rows/list-page.tsx'
import { actionsOf, samplingWords } from './rule-draft.ts'
import { RuleSwitch } from './rule-switch.tsx'
import css from './rules.module.css'

const RuleEditor = lazy(async () => ({ default: (await import('./rule-editor.tsx')).RuleEditor }))

/** Why a reader may not change anything. */
export const readerWords = 'Your key may only read.'

/** Page of the rules, with the editor of one. */
export function RuleList() {
  const list = useQuery(ruleList)
  const { edit } = useSearch({ from: '/rules' })
  const navigate = useNavigate()
  const refusal = useRefusal(readerWords)
  const show = (id: string | undefined) => void navigate({ to: '/rules', search: { edit: id } })
  const edited = list.data?.find(({ id }) => id === edit)
  return (
    <ListPage title="Rules" noun="rule" total={list.data?.length}
      make={{ words: 'New rule', refusal, act: () => show('new') }}
    >
      <ListBody list={list} isEmpty={(rules) => rules.length === 0} empty={<NoRules />}>
        {(rules) => <Rules rules={rules} isReader={refusal !== undefined} edit={show} />}
      </ListBody>
      <Suspense>
        {(edit === 'new' || edited !== undefined) && (
          <RuleEditor key={edit} before={edited} close={() => show(undefined)} />
        )}
      </Suspense>
    </ListPage>
  )
}

function NoRules() {
  return (
    <Empty title="No rules yet">
      <p>
        A rule looks at each run of a project when it ends: an evaluator scores it, it is kept as an
        example, added to a queue, or sent to an endpoint.
      </p>
    </Empty>
  )
}

function Rules({ rules, isReader, edit }: {
  readonly rules: readonly Rule[]
  readonly isReader: boolean
  readonly edit: (id: string) => void
}) {
  return (
    <Table className={css['table']} caption="Rules, the oldest first"
      columns={['Rule', 'About', 'Does', { number: 'Applied' }, { number: 'Failed' }, 'Last',
        'State']}
    >
      {rules.map((rule) => (
        <RuleRow key={rule.id} rule={rule} isReader={isReader} edit={() => edit(rule.id)} />
      ))}
    </Table>
  )
}

function RuleRow({ rule, isReader, edit }: {
  readonly rule: Rule
  readonly isReader: boolean
  readonly edit: () => void
}) {
  const { id, display_name: name, session_name: project, dataset_name: dataset, state } = rule
  const about = project ?? dataset
  return (
    <tr>
      <th scope="row" dir="auto" title={name}>
        <Link to="/rules/$id" params={{ id }} search={{}}>{name}</Link>
      </th>
      <td data-label="About">
        <span className={css['about']} dir="auto" title={about ?? ''}>
          {about ?? 'a project that is gone'}
        </span>
        <small>{samplingWords(Math.round(rule.sampling_rate * 100))}</small>
      </td>
      <td data-label="Does">{actionsOf(rule)}</td>
      <td data-label="Applied" className={cellClass.number}>{number(state?.applied)}</td>
      <td data-label="Failed" className={cellClass.number}>
        {state?.failed
          ? <b className={css['failed']} title={state.last_error?.message}>{count(state.failed)}</b>
          : number(state?.failed)}
      </td>
      <td data-label="Last">
        {state?.last_applied_at ? <TimeText iso={state.last_applied_at} /> : 'never'}
      </td>
      <td data-label="State">
        <StateOf rule={rule} />
      </td>
      <td className={cellClass.acts}>
        <RuleSwitch rule={rule} isReader={isReader} />
        <Button kind="quiet" small disabled={isReader} title={isReader ? readerWords : undefined}
          onClick={edit}
        >
          Edit<span className="unseen">{name}</span>
        </Button>
        <Link to="/rules/$id" params={{ id }} search={{}} className={buttonClass('quiet', true)}>
          Log<span className="unseen">of {name}</span>
        </Link>
      </td>
    </tr>
  )
}

const number = (value: number | undefined) => (value === undefined ? '–' : count(value))

/** State of a rule as a chip: off, on, an alert, or a pass over the past. */
export function StateOf({ rule: { is_enabled: isOn, state } }: {
  readonly rule: Pick<Rule, 'is_enabled' | 'state'>
}) {
  if (!isOn) return <Chip>Off</Chip>
  if (state?.alerts_firing) return <Chip tone="failed">Alert</Chip>
  if (state?.backfill) return <Chip tone="running">Goes over the past</Chip>
  return <Chip tone="done">On</Chip>
}
