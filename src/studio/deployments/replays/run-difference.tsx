/** The difference of one run: both calls side by side, calls that moved, calls that are gone. */

import { Fragment, useMemo } from 'react'
import type { ReactNode } from 'react'

import type { ReplayedRun } from '../../api/control/replays.ts'
import { ChangedWords } from '../../json/changed-words.tsx'
import { wordParts } from '../../json/word-parts.ts'
import { counted, duration } from '../../parts/amounts.ts'
import { Button, buttonClass } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import calls from '../../thread/runs/calls.module.css'
import css from '../parts/deployments.module.css'
import { RecordedRunLink } from './recorded-run-link.tsx'
import { callText, placeText, siteText, usageText, verdictWords } from './replay-words.ts'

type Call = NonNullable<ReplayedRun['asked']>

/** The difference of a run. */
export function RunDifference({ name, run, revision, close }: {
  readonly name: string
  readonly run: ReplayedRun
  /** The revision that was tried. */
  readonly revision: string
  readonly close: () => void
}) {
  const { verdict, reason, asked, recorded, moved, missing } = run
  const { word, tone, means } = verdictWords[verdict]
  const details = [run.graph_id, run.stateless ? 'stateless' : '', placeText(run),
    `recorded on ${run.recorded_revision || '–'}`,
    run.first_step === null ? '' : `replayed from step ${run.first_step} on`,
    `${counted(run.calls, 'call')} of ${run.recorded_calls}`,
    ...Object.entries(usageText(run.usage))
      .map(([name, words]) => words === null ? '' : `${name} ${words}`), duration(run.ms)]
  return (
    <section className={css['form']} aria-label="Difference of the run">
      <div className={css['bar']}>
        <Button small onClick={close}>All runs</Button>
        {!run.stateless && (
          <>
            <RecordedRunLink name={name} run={run} className={buttonClass('plain', true)}>
              Open the recorded run
            </RecordedRunLink>
            <RecordedRunLink name={name} run={run} ask="copy"
              className={buttonClass('plain', true)}
            >
              Open as thread
            </RecordedRunLink>
          </>
        )}
      </div>
      <h2 className="breaks">
        <Chip tone={tone} title={means}>{word}</Chip> <bdi>{reason}</bdi>
      </h2>
      <p className={css['meta']}>
        {details.filter(Boolean).map((each, at) => (
          <Fragment key={each}>
            {at > 0 && ' · '}
            <bdi>{each}</bdi>
          </Fragment>
        ))}
      </p>
      {asked !== null && <BothCalls asked={asked} recorded={recorded} revision={revision} />}
      <CallList title="Recorded calls that were not made"
        texts={missing.map((call) => `${siteText(call.site)}: ${callText(call)}`)} />
      <CallList title="Calls that moved"
        texts={moved.map(({ from, to }) => `${siteText(from)} → ${siteText(to)}`)} />
    </section>
  )
}

function BothCalls({ asked, recorded, revision }: {
  readonly asked: Call
  readonly recorded: Call | null
  readonly revision: string
}) {
  const parts = useMemo(() => wordParts(recorded?.text ?? '', asked.text), [recorded, asked])
  return (
    <div className={calls['call']}>
      <div className={calls['bodies']}>
        <Body title="Recorded" call={recorded}>
          <ChangedWords parts={parts} side="before" />
        </Body>
        <Body title={`On ${revision}`} call={asked}>
          {recorded === null ? asked.text : <ChangedWords parts={parts} side="after" />}
        </Body>
      </div>
    </div>
  )
}

function Body({ title, call, children }: {
  readonly title: string
  /** Null if no recorded call answers. */
  readonly call: Call | null
  readonly children: ReactNode
}) {
  return (
    <section className={calls['body']} aria-label={title}>
      <header>
        <h3>{title}</h3>
        <span className={calls['note']}>{call === null ? '' : siteText(call.site)}</span>
        {call !== null && (
          <CopyButton text={call.text} label={`Copy what differs, ${title.toLowerCase()}`} />
        )}
      </header>
      {call === null
        ? <p className={calls['note']}>No recorded call is like it.</p>
        : (
          <pre tabIndex={0} className="edits" dir="auto">
            <b>{callText(call)}</b>{'\n\n'}{children}
          </pre>
        )}
    </section>
  )
}

function CallList({ title, texts }: {
  readonly title: string
  readonly texts: readonly string[]
}) {
  if (texts.length === 0) return null
  return (
    <section className={css['report']}>
      <h3>{title}</h3>
      <ul>
        {texts.map((text, at) => <li key={at} dir="auto">{text}</li>)}
      </ul>
    </section>
  )
}
