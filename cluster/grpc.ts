/** All that needs the library of gRPC: loaded only if there can be other members. */

export { grpcProbe } from './grpc-probe.ts'
export { openGrpcServer } from './grpc-server.ts'
export { grpcTransport } from './transport-grpc.ts'
