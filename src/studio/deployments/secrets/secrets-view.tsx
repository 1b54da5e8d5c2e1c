/** The secrets of a deployment: names, versions and times. Values are never shown. */

import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'

import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ErrorNotice, Notice } from '../../parts/notice.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { cellClass, Table } from '../../parts/table.tsx'
import { TimeText } from '../../parts/times/time-text.tsx'
import { secretList } from '../../api/control/control.ts'
import type { Deployment, Secret } from '../../api/control/deployment.ts'
import css from '../parts/deployments.module.css'

const SetSecret = lazy(async () => ({ default: (await import('./set-secret.tsx')).SetSecret }))
const RemoveSecret = lazy(async () => ({
  default: (await import('./remove-secret.tsx')).RemoveSecret,
}))

const setAll = 'heddle secrets set --from production.env'

/** Form that is open: for a new secret, or for one that is changed or removed. */
type Open =
  | { readonly act: 'set'; readonly name?: string }
  | { readonly act: 'remove'; readonly name: string }

/** Secrets of a deployment by their names, without values. */
export function SecretsView({ deployment }: { readonly deployment: Deployment }) {
  const { name, preview } = deployment
  const { data, error, refetch } = useQuery(secretList(name))
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <div className="page">
      <div className={css['bar']}>
        <p className={css['meta']}>
          Code reads them as environment variables. A change counts when the active revision has
          loaded it on all members, without losing a run; a rollback leaves them as they are.
        </p>
        <Button kind="primary" icon={<Icon name="plus" />} onClick={() => setOpen({ act: 'set' })}>
          Set a secret
        </Button>
      </div>
      {preview !== null && (
        <Notice>A preview has the secrets of {preview.of}. Those set here come before them.</Notice>
      )}
      {data === undefined
        ? error === null
          ? <Skeleton width="100%" height={120} />
          : <ErrorNotice error={error} retry={() => void refetch()} />
        : data.secrets.length === 0
        ? (
          <Empty title="No secrets yet">
            <p>Set one here, or all of a dotenv file: in the project’s folder type</p>
            <p className={css['command']}>
              <code>{setAll}</code>
              <CopyButton text={setAll} label="Copy the command" />
            </p>
          </Empty>
        )
        : <Rows secrets={data.secrets} open={setOpen} />}
      <Suspense>
        {open?.act === 'set' && <SetSecret deployment={name} name={open.name} close={close} />}
        {open?.act === 'remove' && <RemoveSecret deployment={name} name={open.name}
          close={close} />}
      </Suspense>
    </div>
  )
}

function Rows({ secrets, open }: {
  readonly secrets: readonly Secret[]
  readonly open: (what: Open) => void
}) {
  return (
    <Table className={css['table']} caption="Secrets by name, without their values"
      columns={['Name', { number: 'Version' }, 'Set']}
    >
      {secrets.map(({ name, version, updated_at: at, state }) => (
        <tr key={name}>
          <th scope="row">
            <code>{name}</code>
            {state === 'kept' && <Chip tone="waiting">From the next roll-out</Chip>}
            {state === 'removed' && <Chip tone="waiting">Until the next roll-out</Chip>}
          </th>
          <td data-label="Version" className={cellClass.number}>{version}</td>
          <td data-label="Set">
            <TimeText iso={at} />
          </td>
          <td className={cellClass.acts}>
            <Button kind="quiet" small onClick={() => open({ act: 'set', name })}>
              Replace<span className="unseen">{name}</span>
            </Button>
            <Button kind="danger" small onClick={() => open({ act: 'remove', name })}>
              Remove<span className="unseen">{name}</span>
            </Button>
          </td>
        </tr>
      ))}
    </Table>
  )
}
