/** The deployments: where each answers, what is active, and how its roll-out goes. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { deploymentName, studioOf } from '../api/place.ts'
import { buttonClass } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Empty } from '../parts/empty.tsx'
import { cellClass, Table } from '../parts/table.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import { ListBody } from '../rows/list-body.tsx'
import { ListPage } from '../rows/list-page.tsx'
import { deploymentList } from '../api/control/control.ts'
import type { Deployment } from '../api/control/deployment.ts'
import { DeploymentMarks } from './deployment-marks.tsx'
import css from './parts/deployments.module.css'
import { Refused } from './parts/refused.tsx'
import { outcomeWords, progressWords, rolloutTitle } from './rollout-words.ts'

/** Page of the deployments of the caller's tenant. */
export function DeploymentList() {
  const list = useInfiniteQuery(deploymentList)
  return (
    <ListPage title="Deployments" noun="deployment" total={list.data?.pages.flat().length}
      isMore={list.hasNextPage}
      acts={deploymentName !== null && (
        <a className={buttonClass()} href={`${studioOf(null).href}threads`}>
          Open the default project
        </a>
      )}
    >
      <ListBody list={list} isEmpty={({ pages }) => pages.flat().length === 0}
        empty={<NoDeployments />}
        fault={<Refused error={list.error} retry={() => void list.refetch()} />}
      >
        {({ pages }) => <Rows deployments={pages.flat()} />}
      </ListBody>
    </ListPage>
  )
}

function NoDeployments() {
  return (
    <Empty title="No deployments yet">
      <p>
        A deployment runs a project on this server, beside its own. In the project’s folder type
      </p>
      <p className={css['command']}>
        <code>heddle deploy</code>
        <CopyButton text="heddle deploy" label="Copy the command" />
      </p>
    </Empty>
  )
}

function Rows({ deployments }: { readonly deployments: readonly Deployment[] }) {
  return (
    <Table className={css['table']} caption="Deployments by name"
      columns={['Name', 'Address', 'Active', 'Roll-out', 'Callers']}
    >
      {deployments.map((deployment) => {
        const { name, url, active, next, access } = deployment
        return (
          <tr key={name}>
            <th scope="row">
              <Link to="/deployments/$name" params={{ name }} search={{}}>{name}</Link>
              <DeploymentMarks deployment={deployment} />
            </th>
            <td data-label="Address" className={css['address']}>
              <span>
                <code title={url}>{url}</code>
                <CopyButton text={url} label={`Copy the address of ${name}`} />
              </span>
            </td>
            <td data-label="Active">
              {active === null ? <Chip>Nothing yet</Chip> : <Chip tone="done">{active}</Chip>}
              {next !== null && <small>{next.revision} gets {next.percent} %</small>}
            </td>
            <td data-label="Roll-out">
              <RolloutCell deployment={deployment} />
            </td>
            <td data-label="Callers">
              {access === 'own' ? 'its owner’s' : 'every tenant’s'}
            </td>
            <td className={cellClass.acts}>
              <a className={buttonClass('quiet', true)} href={`${studioOf(name).href}threads`}>
                Open in Studio<span className="unseen">{name}</span>
              </a>
            </td>
          </tr>
        )
      })}
    </Table>
  )
}

function RolloutCell({ deployment: { rollout, last_rollout: last } }: {
  readonly deployment: Deployment
}) {
  if (rollout !== null) {
    return (
      <>
        <b className={css['live']}>{rolloutTitle(rollout)}</b>
        <small>{progressWords(rollout)}</small>
      </>
    )
  }
  if (last === null) return 'none yet'
  return (
    <>
      <span className={last.result === 'done' ? undefined : css['failed']}>
        {outcomeWords(last)}
      </span>
      <small>
        <TimeText iso={last.ended_at} />
      </small>
    </>
  )
}
