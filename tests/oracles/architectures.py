"""The table of architectures: what current exports of torchvision's and timm's networks are compared on. Small variants."""
import dataclasses
import importlib

SMALL = 160  # side of the picture for networks that take any


@dataclasses.dataclass(frozen=True)
class Architecture:
    package: str  # torchvision or timm
    name: str  # of the constructor
    size: int = SMALL
    kind: str = "classification"  # or segmentation, flow
    frames: int = 0  # of a video; 0 for a picture
    in_double: bool = True  # whether the network takes doubles
    options: dict = dataclasses.field(default_factory=dict)

    def construct(self):
        if self.package == "timm":
            return importlib.import_module("timm").create_model(self.name, pretrained=False, **self.options)
        module = {"segmentation": "torchvision.models.segmentation", "flow": "torchvision.models.optical_flow",
                  "classification": "torchvision.models.video" if self.frames else "torchvision.models"}[self.kind]
        return getattr(importlib.import_module(module), self.name)(weights=None, **self.options)


def torchvision(name, size=SMALL, **fields):
    return Architecture("torchvision", name, size, **fields)


def timm(name, size=SMALL, **fields):
    return Architecture("timm", name, size, **fields)


TABLE = [
    # torchvision: every family of classifiers, with segmentation, video and optical flow. Detectors: check_detector.py.
    torchvision("alexnet", 224),
    torchvision("convnext_tiny"),
    torchvision("densenet121"),
    torchvision("efficientnet_b0"),
    torchvision("efficientnet_v2_s"),
    torchvision("googlenet", options={"aux_logits": False, "init_weights": True}),
    torchvision("inception_v3", 192, options={"aux_logits": False, "init_weights": True}),
    torchvision("maxvit_t", 224),
    torchvision("mnasnet0_5"),
    torchvision("mobilenet_v2"),
    torchvision("mobilenet_v3_small"),
    torchvision("regnet_x_400mf"),
    torchvision("regnet_y_400mf"),
    torchvision("resnet18"),
    torchvision("resnext50_32x4d"),
    torchvision("shufflenet_v2_x0_5"),
    torchvision("squeezenet1_1"),
    torchvision("swin_t"),
    torchvision("swin_v2_t"),
    torchvision("vgg11_bn", 64),
    torchvision("vit_b_32", 224),
    torchvision("wide_resnet50_2", 96),
    torchvision("fcn_resnet50", kind="segmentation", options={"weights_backbone": None}),
    torchvision("deeplabv3_mobilenet_v3_large", kind="segmentation", options={"weights_backbone": None}),
    torchvision("lraspp_mobilenet_v3_large", kind="segmentation", options={"weights_backbone": None}),
    torchvision("r3d_18", 64, frames=8),
    torchvision("mc3_18", 64, frames=8),
    torchvision("r2plus1d_18", 64, frames=8),
    torchvision("s3d", 224, frames=16),
    torchvision("mvit_v1_b", 224, frames=16),
    torchvision("swin3d_t", 64, frames=8),
    torchvision("raft_small", 128, kind="flow", in_double=False),
    # timm.
    timm("bat_resnext26ts", 256),
    timm("beit_base_patch16_224", 224),
    timm("botnet26t_256", 256),
    timm("caformer_s18"),
    timm("cait_xxs24_224", 224),
    timm("coat_lite_tiny", 224),
    timm("coatnet_nano_rw_224", 224),
    timm("convit_tiny", 224),
    timm("convnextv2_atto"),
    timm("crossvit_tiny_240", 240),
    timm("cs3darknet_s"),
    timm("cspresnet50"),
    timm("davit_tiny"),
    timm("deit_tiny_patch16_224", 224),
    timm("dla46_c"),
    timm("dpn48b"),
    timm("eca_botnext26ts_256", 256),
    timm("eca_nfnet_l0"),
    timm("edgenext_xx_small"),
    timm("efficientformer_l1", 224),
    timm("efficientformerv2_s0", 224),
    timm("efficientvit_b0"),
    timm("efficientvit_m0", 224),
    timm("ese_vovnet19b_dw"),
    timm("eva02_tiny_patch14_224", 224),
    timm("fastvit_t8", 256),
    timm("focalnet_tiny_srf"),
    timm("gcresnext26ts"),
    timm("gernet_s"),
    timm("ghostnet_050"),
    timm("ghostnetv2_100"),
    timm("gmixer_24_224", 224),
    timm("gmlp_ti16_224", 224),
    timm("halonet26t", 256),
    timm("hgnetv2_b0"),
    timm("hiera_tiny_224", 224),
    timm("hrnet_w18_small"),
    timm("inception_next_atto"),
    timm("inception_resnet_v2", 192),
    timm("lambda_resnet26t", 256),
    timm("lcnet_050"),
    timm("levit_128s", 224),
    timm("mambaout_femto"),
    timm("maxxvit_rmlp_nano_rw_256", 256),
    timm("mixer_s32_224", 224),
    timm("mobilenetv4_conv_small"),
    timm("mobilenetv4_hybrid_medium"),
    timm("mobileone_s0"),
    timm("mobilevit_xxs"),
    timm("mobilevitv2_050"),
    timm("mvitv2_tiny", 224),
    timm("nest_tiny", 224),
    timm("nextvit_small"),
    timm("nf_regnet_b0"),
    timm("pit_ti_224", 224),
    timm("poolformer_s12"),
    timm("pvt_v2_b0"),
    timm("rdnet_tiny"),
    timm("regnetz_005"),
    timm("repghostnet_050"),
    timm("repvgg_a0"),
    timm("repvit_m0_9"),
    timm("res2net50_14w_8s"),
    timm("resmlp_12_224", 224),
    timm("resnest14d"),
    timm("resnetv2_50"),
    timm("rexnet_100"),
    timm("selecsls42b"),
    timm("sequencer2d_s", 224),
    timm("shvit_s1"),
    timm("skresnet18"),
    timm("starnet_s1"),
    timm("swiftformer_xs", 224),
    timm("tiny_vit_5m_224", 224),
    timm("tinynet_e"),
    timm("tnt_s_legacy_patch16_224", 224),
    timm("twins_svt_small", 224),
    timm("visformer_tiny", 224),
    timm("vit_small_patch16_dinov3", 256),
    timm("volo_d1_224", 224),
    timm("xception41", 192),
    timm("xcit_nano_12_p16_224", 224),
]
ARCHITECTURES = {architecture.name: architecture for architecture in TABLE}
