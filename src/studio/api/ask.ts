/** Calls operations of the API. Their types are those of the contract in src/api. */

import type { Answered, Asked, Route, Selectable, Selected,
  SelectingRoute } from '../../api/index.ts'
import { addressFor, addressOf } from './address.ts'
import { askPage as askPageAt } from './client.ts'
import type { Call } from './client.ts'

/** The parts of a call; they may be left out where none must be given. */
export type Parts<Of extends Route> = Asked<Of> & Pick<Call, 'form' | 'headers' | 'signal'>

type Optional<Given> = object extends Given ? [parts?: Given] : [parts: Given]

/** The JSON that an operation answers, as `PATCH /api/v1/runs/rules/:id`. Throws ApiError. */
export async function ask<Of extends Route>(route: Of,
  ...parts: Optional<Parts<Of>>): Promise<Answered<Of>> {
  return (await askPage(route, ...parts)).data
}

/** The JSON with the headers of the answer: of a page of a list. Throws ApiError. */
export function askPage<Of extends Route>(route: Of,
  ...[parts = {} as Parts<Of>]: Optional<Parts<Of>>
): Promise<
  { readonly data: Answered<Of>; readonly headers: Headers }
> {
  const { params: _params, query: _query, ...call } = parts
  const [method] = route.split(' ') as [NonNullable<Call['method']>]
  return askPageAt(addressFor(route, parts), { method, ...call })
}

/** As `askPage`, of records: the call selects their members, and the answer has these. */
export function askSelected<Of extends SelectingRoute, const Name extends Selectable<Of>>(
  route: Of,
  select: readonly Name[],
  { params, query, body, headers = {}, signal }: Parts<Of>,
): Promise<{ readonly data: Selected<Of, Name>; readonly headers: Headers }> {
  const [method, path] = route.split(' ') as ['GET' | 'POST', string]
  return method === 'GET'
    ? askPageAt(addressOf(path, params, { ...query, select }), { method, headers, signal })
    : askPageAt(addressOf(path, params, query), { method, body: { ...body, select }, headers,
      signal })
}
