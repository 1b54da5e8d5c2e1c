/** Parts that the views of a dataset have in common. */

import type { Dataset } from '../../api/index.ts'
import type { DatasetSearch } from '../addresses/datasets.ts'

/** Changes a part of the address. */
export type SetSearch = (change: Partial<DatasetSearch>) => void

/** Dataset that a view shows, and the parameters of its address. */
export interface DatasetViewProps {
  readonly dataset: Dataset
  readonly search: DatasetSearch
  readonly set: SetSearch
}
