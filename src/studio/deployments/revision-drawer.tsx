/** All that is known of a revision. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import type { ReactNode } from 'react'

import { count, counted, size } from '../parts/amounts.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Moment, TimeText } from '../parts/times/time-text.tsx'
import { revisionQuery } from '../api/control/control.ts'
import type { Deployment, Revision } from '../api/control/deployment.ts'
import css from './parts/deployments.module.css'
import { GraphFailures } from './graph-failures.tsx'
import { mayActivate } from './revision-table.tsx'
import { revisionState } from './rollout-words.ts'

/** Drawer with all properties of a revision: its state, its source and its graphs. */
export function RevisionDrawer({ deployment, revision: name, activate, close }: {
  readonly deployment: Deployment
  readonly revision: string
  readonly activate: (revision: string) => void
  readonly close: () => void
}) {
  const { data, error, refetch } = useQuery(revisionQuery(deployment.name, name))
  return (
    <Dialog open side close={close} title={`Revision ${name}`}>
      {data === undefined
        ? error === null
          ? <Skeleton width="100%" height={200} />
          : <ErrorNotice error={error} retry={() => void refetch()} />
        : (
          <div className={css['form']}>
            <Facts deployment={deployment} revision={data} />
            {data.state === 'ready' && (
              <footer>
                <Link to="/deployments/$name" params={{ name: deployment.name }}
                  search={{ view: 'replays', act: 'replay', revision: name }}
                  className={buttonClass()}
                >
                  Replay runs on it
                </Link>
                {mayActivate(deployment, data) && (
                  <Button kind="primary" onClick={() => activate(name)}>Roll out {name}</Button>
                )}
              </footer>
            )}
          </div>
        )}
    </Dialog>
  )
}

function Facts({ deployment, revision }: {
  readonly deployment: Deployment
  readonly revision: Revision
}) {
  const { message, by, bytes, files, platform, source, wants_env: wants, graphs, reason, failures,
    hash, created_at: made, active_at: used, expires_at: ends, running, waiting_threads: waiting,
    state } = revision
  const { word, tone } = revisionState(revision, deployment)
  const details: readonly (readonly [string, ReactNode])[] = [
    ['State', <Chip key="state" tone={tone}>{word}</Chip>],
    ['Made', <Fragment key="made">
      <TimeText iso={made} />, by {by}
    </Fragment>],
    ...used === null ? [] : [['Last active', <TimeText key="used" iso={used} />] as const],
    ...state === 'uploading' && ends !== null
      ? [['Upload ends', <Moment key="ends" iso={ends} />] as const]
      : [],
    ['Size',
      `${size(bytes)}, ${counted(files, 'file')}${platform === null ? '' : `, for ${platform}`}`],
    ...source === null ? [] : [['Source', sourceWords(source)] as const],
    ...running === null ? [] : [['Running', counted(running, 'run')] as const],
    ...waiting === null ? [] : [['Waiting', counted(waiting, 'thread')] as const],
    ...wants.length === 0 ? [] : [['Wants secrets', <Words key="wants" words={wants} />] as const],
    ['Hash', (
      <span key="hash" className={css['hash']}>
        <code title={hash}>{hash === '' ? '–' : hash.slice(0, 16)}</code>
        {hash !== '' && <CopyButton text={hash} label="Copy the hash" />}
      </span>
    )],
  ]
  return (
    <>
      {message !== '' && <p dir="auto">{message}</p>}
      {reason !== null && <Notice tone="failed">{reason}</Notice>}
      <GraphFailures failures={failures} />
      <dl className={css['pairs']}>
        {details.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {graphs.length > 0 && (
        <section>
          <h3>{counted(graphs.length, 'graph')}</h3>
          <ul className={css['graphs']}>
            {graphs.map(({ graph_id: graph, nodes }) => (
              <li key={graph}>
                <b dir="auto">{graph}</b> <small>{count(nodes.length)} nodes</small>
                <Words words={nodes} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function Words({ words }: { readonly words: readonly string[] }) {
  return (
    <span className={css['words']}>
      {words.map((word) => <code key={word}>{word}</code>)}
    </span>
  )
}

function sourceWords({ commit, branch, dirty }: NonNullable<Revision['source']>): string {
  const at = [branch, commit?.slice(0, 12)].filter((part) => part !== null && part !== undefined)
  return `${at.join(' at ') || 'not known'}${dirty ? ', with changes that are not committed' : ''}`
}
