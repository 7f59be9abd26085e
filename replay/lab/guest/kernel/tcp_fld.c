// SPDX-License-Identifier: GPL-2.0-only
/* FLD_TCP: congestion control that depends on a flow's length, after G. R. Moktan, "In the Interest of the Short"
 * (Aalto University, 2012). Its tweaks are unpublished; ours are in docs/decisions/0009-fld-tcp.md.
 *
 * A flow's first 2 MB go fast: slow start triples the window, and a loss takes from it what was lost and no more
 * (Relentless TCP). Then the flow is Reno's.
 */
#include <net/tcp.h>

#define FLD_THRESHOLD_BYTES (2u << 20)
#define FLD_EXTRA 2u		/* segments that slow start adds for one acknowledged: three leave */
#define FLD_LEAST_WINDOW 2u

static u32 fld_grown(struct tcp_sock *tp, u32 cwnd, u32 acked)
{
	if (cwnd >= tp->snd_ssthresh) {
		tcp_cong_avoid_ai(tp, cwnd, acked);
		return tcp_snd_cwnd(tp);
	}
	return min(cwnd + FLD_EXTRA * acked, tp->snd_ssthresh);
}

static void fld_main(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	if (icsk->icsk_ca_state == TCP_CA_Open && tp->bytes_acked >= FLD_THRESHOLD_BYTES) {
		icsk->icsk_ca_ops = &tcp_reno;
		return;
	}
	if (rs->losses > 0)
		cwnd = max_t(s32, (s32)cwnd - rs->losses, FLD_LEAST_WINDOW);
	else if (!tcp_in_cwnd_reduction(sk) && tcp_is_cwnd_limited(sk))
		cwnd = fld_grown(tp, cwnd, rs->acked_sacked);
	tcp_snd_cwnd_set(tp, min(cwnd, tp->snd_cwnd_clamp));
}

static struct tcp_congestion_ops tcp_fld __read_mostly = {
	.name		= "fld",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,	/* of a timeout; recovery leaves the window to fld_main */
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_control	= fld_main,
};

static int __init fld_register(void)
{
	return tcp_register_congestion_control(&tcp_fld);
}
module_init(fld_register);
