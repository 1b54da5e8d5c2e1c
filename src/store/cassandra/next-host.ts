/**
 * What one host cannot answer is asked of the next one, where it may be done twice: a host that has
 * just come back may take all others for dead, and refuse at once what they would answer.
 */

import { errors, policies } from 'cassandra-driver'
import type { ExecutionOptions, types } from 'cassandra-driver'

interface Operation {
  readonly executionOptions: Pick<ExecutionOptions, 'isIdempotent'>
  /** How many hosts it was asked of before this one. */
  readonly nbRetry: number
}

/** Most further hosts: each row is on three. */
const furtherHosts = 2

/** A retry policy of the driver. One call for each way in which a host fails. */
export class NextHost extends policies.retry.RetryPolicy {
  override onUnavailable(operation: Operation, consistency: types.consistencies) {
    return this.#next(operation, consistency)
  }

  override onReadTimeout(operation: Operation, consistency: types.consistencies) {
    return this.#next(operation, consistency)
  }

  override onWriteTimeout() {
    return this.rethrowResult()
  }

  /** Whoever waits for an answer has waited long enough: he decides what is done next. */
  override onRequestError(operation: Operation, consistency: types.consistencies, error: Error) {
    return error instanceof errors.OperationTimedOutError ? this.rethrowResult()
      : this.#next(operation, consistency)
  }

  #next({ executionOptions, nbRetry }: Operation, consistency: types.consistencies) {
    return executionOptions.isIdempotent() && nbRetry < furtherHosts
      ? this.retryResult(consistency, false) : this.rethrowResult()
  }
}
