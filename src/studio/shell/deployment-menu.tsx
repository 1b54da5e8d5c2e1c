/** The deployments, to open the Studio of another one. */

import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'

import { deploymentName, studioOf } from '../api/place.ts'
import { deploymentList } from '../api/control/control.ts'
import { Menu } from '../parts/menu.tsx'
import type { MenuAct } from '../parts/menu.tsx'
import { messageOf } from '../parts/error-message.ts'

/** The menu; it was asked for before it was loaded. */
export function DeploymentMenu({ trigger, ownProject }: {
  readonly trigger: ReactElement<Record<string, unknown>>
  /** Name of the project of the server itself. */
  readonly ownProject: string
}) {
  const { data, error } = useInfiniteQuery({ ...deploymentList, refetchInterval: false })
  const open = (name: string | null): MenuAct => ({ label: name ?? ownProject,
    disabled: name === deploymentName,
    act: () => location.assign(`${studioOf(name).href}threads`) })
  const waiting = { disabled: true, act: () => {},
    label: error === null ? 'Asking for deployments …' : messageOf(error) }
  const others = data?.pages.flat().map(({ name }) => open(name)) ?? [waiting]
  return <Menu startsOpen trigger={trigger} acts={[open(null), ...others]} />
}
