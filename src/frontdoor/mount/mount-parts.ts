/** Parts of deployments that a front door needs to find the one that is called. */

import type { FastifyRequest } from 'fastify'

import type { Deployment, Serving } from '../../deployment/index.ts'
import type { HttpSettings } from '../../graph/index.ts'
import type { ChargeDeployment } from '../http/limit-gate.ts'
import type { ServedHosts } from './served-hosts.ts'

/** A request, or what is known of it before it is routed. */
export type Called = Pick<FastifyRequest, 'headers' | 'socket'>

/** Parts by which deployments are found and chosen, and requests to them are noted and charged. */
export interface MountParts {
  readonly serving:
    & Pick<Serving, 'find' | 'named' | 'open' | 'view'>
    & Partial<Pick<Serving, 'requireServes'>>
  /** Settings below `http` of the server's own project; by default there are none. */
  readonly own?: (() => HttpSettings | undefined) | undefined
  /** Notes by which names callers reach the server itself; by default, nothing is noted. */
  readonly servedHosts?: Pick<ServedHosts, 'note'>
  /** Notes who calls a deployment. Awaited before a request is served; by default nothing is. */
  readonly requested?: (deployment: Deployment, tenant: string) => Promise<void>
  /** Charges a request to the limit of a deployment; by default, there are no such limits. */
  readonly charge?: ChargeDeployment
  /** Deployments answer as `<name>.<domain>`, too; by default, they do not. */
  readonly domain?: string | undefined
  /** True for a request from a proxy whose `X-Forwarded-Host` is believed; by default, none is. */
  readonly isFromProxy?: (request: Called) => boolean
}
