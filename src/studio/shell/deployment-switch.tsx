/** Says which deployment the page is of, and opens the list of others. */

import { lazy, Suspense, useState } from 'react'

import { deploymentName } from '../api/place.ts'
import { Icon } from '../parts/icon.tsx'
import css from './rail.module.css'

const loadMenu = () => import('./deployment-menu.tsx')
const DeploymentMenu = lazy(async () => ({ default: (await loadMenu()).DeploymentMenu }))

const ownProject = 'The default project'

/** The button. Its menu is loaded when somebody comes near. */
export function DeploymentSwitch() {
  const [isWanted, setWanted] = useState(false)
  const isOwn = deploymentName === null
  const trigger = (press?: () => void) => (
    <button type="button" className={css['switch']}
      aria-label={`Deployment: ${deploymentName ?? ownProject}`} aria-haspopup="menu"
      onPointerEnter={() => void loadMenu()} onFocus={() => void loadMenu()}
      {...press && { onClick: press }}
    >
      <Icon name="deployments" size={14} />
      <span>{isOwn ? 'default project' : deploymentName}</span>
      <Icon name="down" size={12} />
    </button>
  )
  if (!isWanted) return trigger(() => setWanted(true))
  return (
    <Suspense fallback={trigger()}>
      <DeploymentMenu trigger={trigger()} ownProject={ownProject} />
    </Suspense>
  )
}
