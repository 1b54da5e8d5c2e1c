/** A message for each reason why a server cannot listen on an address. */

import { HeddleError } from '../errors.ts'
import { textAt } from '../json/index.ts'

/** The address that was asked for. */
export interface PortRequest {
  readonly host: string
  readonly port: number
  /** Prefix of the options for this host and port. */
  readonly flags: '--' | '--metrics-' | '--platform-'
}

/** The error with a message for the operator. Other errors are returned as they are. */
export function portError({ host, port, flags }: PortRequest, error: unknown): unknown {
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is in use: end what listens there, or choose another ` +
      `with ${flags}port (0 takes any that is free).`,
    EACCES: `Port ${port} needs rights that this user has not: choose one above 1023 with ` +
      `${flags}port.`,
    EADDRNOTAVAIL: `${host} is no address of this machine: choose another with ${flags}host.`,
    ENOTFOUND: `${host} is no address that is known here: choose another with ${flags}host.`,
  }
  const message = messages[textAt(error, 'code') ?? '']
  return message ? new HeddleError('unavailable', message, {}, { cause: error }) : error
}
